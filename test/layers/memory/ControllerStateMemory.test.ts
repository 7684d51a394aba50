import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
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
})
