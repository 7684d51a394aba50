/**
 * When to fetch again.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

/** Before the first retry; it doubles with every further one. */
const firstPause = Duration.seconds(15)

/** How long pauses before retries become where content is fetched at the start only. */
const longestPause = Duration.minutes(5)

/**
 * The pause after a fetch, nothing where no further one is planned. `failures` is how many fetches in a row, up to this
 * one, have failed for a reason that may pass by itself: they are tried again sooner than `fetchEvery`, never later.
 */
export const pauseAfter = (
  failures: number,
  fetchEvery: Option.Option<Duration.DurationInput>
): Option.Option<Duration.Duration> =>
  failures === 0
    ? Option.map(fetchEvery, Duration.decode)
    : Option.some(
        Duration.min(
          Duration.times(firstPause, 2 ** (failures - 1)),
          Option.getOrElse(fetchEvery, () => longestPause)
        )
      )
