import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import { reportProblems } from "../../../src/layers/alerts/reportProblems.ts"
import * as ControllerStateMemory from "../../../src/layers/memory/ControllerStateMemory.ts"
import * as EventBusMemory from "../../../src/layers/memory/EventBusMemory.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { EventBus } from "../../../src/services/EventBus.ts"

const lamp = { code: "lamp:broken", severity: "warning", subject: "left", text: "The left lamp is broken." }

describe("problems of a controller", () => {
  it.scoped("are announced when they begin and when they are over, each once", () =>
    Effect.gen(function* () {
      const { updateSlice } = yield* ControllerState
      const { subscribe } = yield* EventBus
      const heard = yield* Queue.unbounded<unknown>()
      const feed = yield* subscribe
      yield* Effect.forkScoped(
        Stream.runForEach(feed, ({ name, payload }) => Queue.offer(heard, { name, payload }))
      )
      yield* reportProblems()
      yield* updateSlice("lamps", () => ({ problems: [lamp] }))
      yield* TestClock.adjust("20 seconds")
      yield* updateSlice("lamps", () => ({ problems: [] }))
      yield* TestClock.adjust("20 seconds")
      const since = "1970-01-01T00:00:00.000Z"
      expect(yield* Queue.take(heard)).toEqual({
        name: "controller:problem:begin",
        payload: { ...lamp, since, count: 1 }
      })
      expect(yield* Queue.take(heard)).toEqual({
        name: "controller:problem:end",
        payload: { ...lamp, since, count: 1, endedAt: "1970-01-01T00:00:25.000Z" }
      })
      expect(yield* Queue.size(heard)).toBe(0)
    }).pipe(Effect.provide(Layer.merge(EventBusMemory.layer, ControllerStateMemory.layer("persistent"))))
  )
})
