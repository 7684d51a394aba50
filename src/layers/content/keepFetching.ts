/**
 * Fetching again and again, and when.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { FetchError } from "../../services/Content.ts"
import type { NextFetch } from "./contentStatus.ts"

/**
 * The pause after a fetch; none where no further one is planned. `failures` is how many in a row, up to this one, have
 * failed for a reason that may pass by itself.
 */
export type Pauses = (failures: number) => Effect.Effect<Option.Option<Duration.Duration>>

/** Fetches at once, then again after each pause; `setNext` is told when. */
export const keepFetching = Effect.fnUntraced(function* (
  fetch: Effect.Effect<unknown, FetchError>,
  pauses: Pauses,
  setNext: (next: Option.Option<NextFetch>) => Effect.Effect<void>
) {
  let failures = 0
  while (true) {
    failures = (yield* fetchQuietly(fetch)) ? failures + 1 : 0
    const pause = yield* pauses(failures)
    if (Option.isNone(pause)) {
      return
    }
    const at = (yield* Clock.currentTimeMillis) + Duration.toMillis(pause.value)
    yield* setNext(Option.some({ at, isRetry: failures > 0 }))
    yield* Effect.sleep(pause.value)
    yield* setNext(Option.none())
  }
})

/** Gives whether to try again soon. What it fails with was reported; a bug must not end the fetching either. */
const fetchQuietly = (fetch: Effect.Effect<unknown, FetchError>) =>
  fetch.pipe(
    Effect.as(false),
    Effect.catchAll((error) => Effect.succeed("isTransient" in error && error.isTransient === true)),
    Effect.catchAllCause((cause) =>
      Effect.as(
        Cause.isDie(cause) ? Effect.logError("A fetch ended unexpectedly", cause) : Effect.void,
        false
      )
    )
  )

/** Before the first retry; it doubles with every further one. */
const firstPause = Duration.seconds(15)

/** How long pauses before retries become where content is fetched at the start only. */
const longestPause = Duration.minutes(5)

/**
 * The pauses of content that is fetched every `fetchEvery`, or at the start only: retries come sooner than that, never
 * later.
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
