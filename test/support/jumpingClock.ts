/**
 * A clock that somebody sets, while the time goes on.
 */
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"

export interface JumpingClock {
  /** Sets the time of day forward or back, in milliseconds. */
  readonly set: (millis: number) => Effect.Effect<void>
  /** Lets time go on, as `TestClock.adjust` does. */
  readonly adjust: (duration: Duration.DurationInput) => Effect.Effect<void>
}

/** Runs with the test clock, whose time of day can be set. */
export const withJumpingClock = <A, E, R>(use: (clock: JumpingClock) => Effect.Effect<A, E, R>) =>
  Effect.clockWith((clock): Effect.Effect<A, E, R> => {
    let offset = 0
    const jumping: Clock.Clock = {
      [Clock.ClockTypeId]: Clock.ClockTypeId,
      unsafeCurrentTimeMillis: () => clock.unsafeCurrentTimeMillis() + offset,
      currentTimeMillis: Effect.map(clock.currentTimeMillis, (millis) => millis + offset),
      unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos(),
      currentTimeNanos: clock.currentTimeNanos,
      sleep: (duration) => clock.sleep(duration)
    }
    const set = (millis: number) =>
      Effect.sync(() => {
        offset += millis
      })
    const adjust = (duration: Duration.DurationInput) => Effect.withClock(TestClock.adjust(duration), clock)
    return Effect.withClock(use({ set, adjust }), jumping)
  })
