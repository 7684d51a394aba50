/**
 * The pauses of whoever tries again until it works.
 */
import * as Schedule from "effect/Schedule"

/** A second, doubling up to half a minute, each up to a fifth shorter or longer, for ever. */
export const growingPauses = Schedule.exponential("1 second").pipe(
  Schedule.union(Schedule.spaced("30 seconds")),
  Schedule.jittered
)
