/**
 * The outcomes of requests to faulty servers, and how long each takes by the clock of the test.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { withAdvancingClock } from "../../src/testing/advancingClock.ts"

/** The result or the error, and after how many milliseconds. */
export const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const start = yield* Clock.currentTimeMillis
    const answer = yield* Effect.merge(effect)
    return { answer, took: (yield* Clock.currentTimeMillis) - start }
  })

/** The same, while the clock advances. */
export const outcome = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(withAdvancingClock(timed(effect)), ({ value }) => value)

/** All at the same time, because the clock is slow. */
export const atTheSameTime = <A, B, E, R>(all: ReadonlyArray<A>, run: (one: A) => Effect.Effect<B, E, R>) =>
  Effect.map(
    withAdvancingClock(
      Effect.forEach(all, (one) => Effect.map(run(one), (result) => [one, result] as const), {
        concurrency: "unbounded"
      })
    ),
    ({ value }) => value
  )
