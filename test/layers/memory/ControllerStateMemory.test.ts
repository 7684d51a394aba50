import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import { layer } from "../../../src/layers/memory/ControllerStateMemory.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { controllerStateContract } from "../../../src/testing.ts"
import { withJumpingClock } from "../../support/jumpingClock.ts"
import { withLog } from "../../support/logged.ts"

controllerStateContract("ControllerStateMemory", layer)

describe("ControllerStateMemory", () => {
  it.scoped("logs which section could not be built, once until it can be", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      let isFull = true
      const { addSection, status } = yield* ControllerState
      const rows = Effect.suspend(() => (isFull ? Effect.fail("full") : Effect.succeed([])))
      yield* addSection({ name: "disk", title: "Disk", rows })
      const look = withLog(lines)(status)
      yield* Effect.replicateEffect(look, 3)
      expect(lines).toEqual([expect.stringMatching(/^WARN The status section "disk" could not be built/)])
      isFull = false
      yield* look
      isFull = true
      yield* look
      expect(lines).toHaveLength(2)
    }).pipe(Effect.provide(layer("persistent")))
  )

  it.effect("has run for as long as it did, whatever becomes of the clock", () =>
    withJumpingClock(({ adjust, set }) =>
      Effect.gen(function* () {
        const { status } = yield* ControllerState
        yield* set(-86_400_000)
        yield* adjust("5 seconds")
        expect((yield* status).header).toMatchObject({
          startTime: "1970-01-01T00:00:00.000Z",
          uptimeMs: 5000
        })
      }).pipe(Effect.provide(layer("persistent")))
    )
  )

  it.scoped("has the problems of slices and of sections, errors first, since they were found", () =>
    Effect.gen(function* () {
      const { addMomentary, addSection, state, updateSlice } = yield* ControllerState
      const slow = { code: "lamp:slow", severity: "warning", text: "The lamp is slow." }
      const out = { code: "door:open", severity: "error", subject: "left", text: "The left door is open." }
      expect((yield* state).problems).toEqual([])
      yield* updateSlice("lamp", () => ({ problems: [slow] }))
      yield* addMomentary("door", Effect.succeed({ problems: [out] }))
      yield* addSection({
        name: "disk",
        title: "Disk",
        rows: Effect.succeed([{ type: "kv", label: "Free", value: "1 MB", tone: "warn" }])
      })
      yield* state
      yield* TestClock.adjust("1 minute")
      const since = "1970-01-01T00:00:00.000Z"
      expect(yield* state).toMatchObject({
        problems: [
          { ...out, since, count: 1 },
          { ...slow, since, count: 1 },
          {
            code: "disk",
            severity: "warning",
            subject: "Disk, Free",
            text: "Disk, Free: 1 MB",
            since,
            count: 1
          }
        ],
        _version: 1
      })
    }).pipe(Effect.provide(layer("persistent")))
  )

  it.effect("counts how often a problem has begun, of whatever read the state", () =>
    Effect.gen(function* () {
      const { state, status, updateSlice } = yield* ControllerState
      const slow = { code: "lamp:slow", severity: "warning", text: "The lamp is slow." }
      for (const problems of [[slow], [], [slow], [slow], []]) {
        yield* updateSlice("lamp", () => ({ problems }))
        yield* status
      }
      yield* updateSlice("lamp", () => ({ problems: [slow] }))
      expect((yield* state).problems).toMatchObject([{ count: 3 }])
    }).pipe(Effect.provide(layer("persistent")))
  )

  it.scoped("reads what is momentary, and each section, once for the state with its problems", () =>
    Effect.gen(function* () {
      const { addMomentary, addSection, state } = yield* ControllerState
      let reads = 0
      const read = <A>(value: A) =>
        Effect.sync(() => {
          reads++
          return value
        })
      yield* addMomentary("door", read({ problems: [] }))
      yield* addSection({ name: "disk", title: "Disk", rows: read([]) })
      yield* state
      expect(reads).toBe(2)
    }).pipe(Effect.provide(layer("persistent")))
  )
})
