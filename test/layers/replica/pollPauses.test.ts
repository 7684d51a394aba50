import { expect, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Option from "effect/Option"
import { pollPauses } from "../../../src/layers/replica/pollPauses.ts"

const seconds = (pollEvery: Duration.DurationInput, failures: number) =>
  Effect.map(pollPauses(pollEvery)(failures), (pause) => Duration.toSeconds(Option.getOrThrow(pause)))

it.effect.prop(
  "the pause doubles with each failure up to a minute, and is a fifth shorter at most",
  { pollEvery: FastCheck.integer({ min: 1, max: 7200 }), failures: FastCheck.nat({ max: 100_000 }) },
  ({ failures, pollEvery }) =>
    Effect.gen(function* () {
      const longest = Math.max(pollEvery, Math.min(pollEvery * 2 ** failures, 60))
      const pause = yield* seconds(Duration.seconds(pollEvery), failures)
      expect(pause).toBeGreaterThanOrEqual(longest * 0.8)
      expect(pause).toBeLessThanOrEqual(longest)
    })
)

it.effect("pauses differ", () =>
  Effect.gen(function* () {
    const pauses = yield* Effect.replicateEffect(seconds("5 seconds", 0), 100)
    expect(new Set(pauses).size).toBeGreaterThan(75)
    expect(Math.max(...pauses) - Math.min(...pauses)).toBeGreaterThan(0.75)
  })
)
