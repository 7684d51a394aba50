import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import { reportProblems } from "../../../src/layers/alerts/reportProblems.ts"
import * as ControllerStateMemory from "../../../src/layers/controller/ControllerStateMemory.ts"
import * as EventBusMemory from "../../../src/layers/memory/EventBusMemory.ts"
import { reported } from "../../../src/layers/status/slices.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { EventBus } from "../../../src/services/EventBus.ts"
import type { Problem } from "../../../src/services/Problem.ts"
import { withLog } from "../../support/logged.ts"
import { pluginsOf } from "../../support/plugins.ts"

const lamp: Problem = {
  code: "lamp:broken",
  severity: "warning",
  subject: "left",
  text: "The left lamp is broken."
}

const node = { id: "hall-3", label: "Hall 3" }

const services = Layer.merge(EventBusMemory.layer, ControllerStateMemory.layer("persistent", { node }))

/** The log for these problems, in rounds of twenty seconds. */
const logOf = (...rounds: ReadonlyArray<ReadonlyArray<Problem>>) => {
  const log: Array<string> = []
  return Effect.gen(function* () {
    const { addReport, updateSlice } = pluginsOf(yield* ControllerState)
    yield* addReport("lamps", (slice) => ({ logs: ["lamp:logged"], problems: reported(slice) }))
    yield* reportProblems()
    for (const problems of rounds) {
      yield* updateSlice("lamps", () => ({ problems }))
      yield* TestClock.adjust("20 seconds")
    }
    return log
  }).pipe(withLog(log), Effect.provide(services))
}

describe("problems of a controller", () => {
  it.scoped("are announced once when they begin and once when they end, with the machine", () =>
    Effect.gen(function* () {
      const { updateSlice } = pluginsOf(yield* ControllerState)
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
        payload: { ...lamp, since, count: 1, node }
      })
      expect(yield* Queue.take(heard)).toEqual({
        name: "controller:problem:end",
        payload: { ...lamp, since, count: 1, endedAt: "1970-01-01T00:00:25.000Z", node }
      })
      expect(yield* Queue.size(heard)).toBe(0)
    }).pipe(Effect.provide(services))
  )

  it.scoped("are logged once when they begin, when they become errors, and when they end", () =>
    Effect.gen(function* () {
      const worse: Problem = { ...lamp, severity: "error", text: "The left lamp burns." }
      expect(yield* logOf([lamp], [{ ...lamp, text: "The left lamp is out." }], [worse], [lamp], [])).toEqual(
        [
          "WARN The left lamp is broken.",
          "ERROR The left lamp burns.",
          "WARN Better: The left lamp is broken.",
          "INFO Over after 1 min 25 s: The left lamp is broken."
        ]
      )
    })
  )

  it.scoped("are logged when nobody watches them any more, and when they are there again", () =>
    Effect.gen(function* () {
      const closed: Problem = { ...lamp, unwatched: "closed" }
      expect(yield* logOf([lamp], [closed], [lamp], [closed], [])).toEqual([
        "WARN The left lamp is broken.",
        "INFO No longer watched (closed): The left lamp is broken.",
        "WARN There again: The left lamp is broken.",
        "INFO No longer watched (closed): The left lamp is broken.",
        "INFO Over after 1 min 25 s: The left lamp is broken."
      ])
    })
  )

  it.scoped("are not logged again if a plugin has logged them, unless they become errors", () =>
    Effect.gen(function* () {
      const failing: Problem = { ...lamp, code: "lamp:logged", text: "The lamp burns." }
      expect(yield* logOf([failing], [{ ...failing, severity: "error" }], [])).toEqual([
        "ERROR The lamp burns."
      ])
    })
  )
})
