import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import { eventLoopTurn } from "../../src/testing/advancingClock.ts"

export { eventLoopTurn }

/** Waits, turn by turn of the event loop, until it holds. */
export const eventually = <E, R>(condition: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.repeat(Effect.zipRight(eventLoopTurn, condition), { until: (holds) => holds }).pipe(Effect.asVoid)

/** Waits until the code under test sleeps: before that, it would miss that the clock is moved. */
export const somebodySleeps = eventually(Effect.map(TestClock.sleeps(), Chunk.isNonEmpty))

/** Waits until somebody sleeps for that long. */
export const somebodySleepsFor = (duration: Duration.DurationInput) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    eventually(Effect.map(TestClock.sleeps(), Chunk.contains(now + Duration.toMillis(duration))))
  )

/** Lets the time pass until the first of those who sleep wakes up, and returns how long that was, in milliseconds. */
export const nextPause = Effect.gen(function* () {
  yield* somebodySleeps
  const now = yield* Clock.currentTimeMillis
  const next = Math.min(...Chunk.toReadonlyArray(yield* TestClock.sleeps()))
  yield* TestClock.setTime(next)
  return next - now
})
