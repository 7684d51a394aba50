/**
 * When a replica looks for a new version.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type { Pauses } from "../content/keepFetching.ts"

/** How long pauses become while the hub is away, unless `pollEvery` is longer. */
const longestPause = Duration.minutes(1)

/** `pollEvery`, doubling while looks fail; each up to a fifth shorter, so that replicas do not meet. */
export const pollPauses =
  (pollEvery: Duration.DurationInput): Pauses =>
  (failures) => {
    // More doublings than these change nothing, and their number has no bound.
    const grown = Duration.times(pollEvery, 2 ** Math.min(failures, 10))
    const pause = Duration.max(pollEvery, Duration.min(grown, longestPause))
    const longest = Math.round(Duration.toMillis(pause))
    const shortest = Math.ceil(longest * 0.8)
    return Effect.map(Random.nextIntBetween(shortest, longest + 1), (millis) =>
      Option.some(Duration.millis(millis))
    )
  }
