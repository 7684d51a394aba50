import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { makePolling } from "../../../src/layers/fetching/fetchSources.ts"
import { SourceError } from "../../../src/services/SourceError.ts"
import { withJumpingClock } from "../../support/jumpingClock.ts"

it.effect("a failed fetch is retried after its pause, even if the clock is set back meanwhile", () =>
  withJumpingClock(({ adjust, set }) =>
    Effect.gen(function* () {
      const { refusal, remember } = yield* makePolling([])
      const failure = new SourceError({ source: "rooms", cause: new Error("as the test wants it") })
      const years = 14 * 365 * 24 * 60 * 60 * 1000
      yield* set(years)
      yield* Effect.flip(remember(failure))
      yield* set(-years)
      expect(yield* refusal).toEqual(Option.some(failure))
      yield* adjust("10 minutes")
      expect(yield* refusal).toEqual(Option.none())
    })
  )
)
