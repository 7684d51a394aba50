import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { makeDownloadCounter } from "../../../src/layers/httpClient/downloadCounter.ts"
import { withJumpingClock } from "../../support/jumpingClock.ts"

it.effect("downloads are reported four times a second, although the clock is set back", () =>
  withJumpingClock(({ adjust, set }) =>
    Effect.gen(function* () {
      const reported: Array<number> = []
      const counter = yield* makeDownloadCounter<string>(100, { done: 0, bytes: 0 }, (_, { done }) =>
        Effect.sync(() => {
          reported.push(done)
        })
      )
      yield* counter.fileDone("a")
      yield* set(-3_600_000)
      yield* adjust("249 millis")
      yield* counter.fileDone("b")
      yield* adjust("1 millis")
      yield* counter.fileDone("c")
      expect(reported).toEqual([1, 3])
    })
  )
)
