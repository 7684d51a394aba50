import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** As `monotonicMillis`, read at once. */
export const unsafeMonotonicMillis = (clock: Clock.Clock): number =>
  Number(clock.unsafeCurrentTimeNanos() / 1_000_000n)

/** Milliseconds of a clock that does not jump when the time of day is set. */
export const monotonicMillis = Effect.map(Effect.clock, unsafeMonotonicMillis)

/** A moment by both clocks. */
export interface Now {
  /** In milliseconds since 1970; jumps when the clock is set. */
  readonly wall: number
  /** In milliseconds since an unknown start; only increases. */
  readonly monotonic: number
}

/** As `now`, read at once. */
export const unsafeNow = (clock: Clock.Clock): Now => ({
  wall: clock.unsafeCurrentTimeMillis(),
  monotonic: unsafeMonotonicMillis(clock)
})

export const now: Effect.Effect<Now> = Effect.map(Effect.clock, unsafeNow)

/**
 * The least change of the time of day that counts as a set clock, in milliseconds. Small corrections happen all the
 * time.
 */
export const stepMs = 5000

/**
 * Whether so much time has passed since a time of day. A time in the future is from before somebody set the clock back:
 * it counts as long ago, because a problem would not be reported for hours otherwise.
 */
export const hasPassed = (millis: number, since: number, now: number): boolean =>
  now - since >= millis || since - now > stepMs

/** By how many milliseconds somebody has set the clock between two moments; 0 for a small correction. */
export const clockStep = (from: Now, to: Now): number => {
  const step = to.wall - from.wall - (to.monotonic - from.monotonic)
  return Math.abs(step) > stepMs ? step : 0
}

/** The same time after somebody set the clock by so many milliseconds. */
export const movedTime = (time: string, millis: number): string =>
  new Date(Date.parse(time) + millis).toISOString()

/** How much the distance of the two clocks varies by itself, in milliseconds. */
const jitterMs = 20

/** Makes an Effect that reads both clocks at the same distance each time, until somebody sets the time of day. */
export const makeSteadyNow = (): Effect.Effect<Now> => {
  let distance = Number.NaN
  return Effect.map(now, ({ monotonic, wall }) => {
    const found = wall - monotonic
    if (!(Math.abs(found - distance) <= jitterMs)) distance = found
    return { monotonic, wall: monotonic + distance }
  })
}
