import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

const millisOf = (nanos: bigint): number => Number(nanos / 1_000_000n)

/** Milliseconds of a clock that is not affected when the time of day is set. */
export const monotonicMillis = Effect.map(Clock.currentTimeNanos, millisOf)

/** The same, read at once. */
export const unsafeMonotonicMillis = (clock: Clock.Clock): number => millisOf(clock.unsafeCurrentTimeNanos())
