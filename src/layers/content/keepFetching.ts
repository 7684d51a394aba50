/**
 * Fetching again and again, and when.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type { Content } from "../../services/Content.ts"
import type { NextFetch } from "./contentStatus.ts"

/** Fetches at once, then as often as `fetchEvery` says and sooner after failures that may pass; `next` has when. */
export const keepFetching = Effect.fnUntraced(function* (
  fetch: Content["Type"]["fetch"],
  fetchEvery: Option.Option<Duration.DurationInput>,
  next: Ref.Ref<Option.Option<NextFetch>>
) {
  let failures = 0
  while (true) {
    failures = (yield* fetchQuietly(fetch)) ? failures + 1 : 0
    const pause = pauseAfter(failures, fetchEvery)
    if (Option.isNone(pause)) {
      return
    }
    const at = (yield* Clock.currentTimeMillis) + Duration.toMillis(pause.value)
    yield* Ref.set(next, Option.some({ at, isRetry: failures > 0 }))
    yield* Effect.sleep(pause.value)
    yield* Ref.set(next, Option.none())
  }
})

/** Gives whether to try again soon. What it fails with was reported; a bug must not end the fetching either. */
const fetchQuietly = (fetch: Content["Type"]["fetch"]) =>
  fetch.pipe(
    Effect.as(false),
    Effect.catchAll((error) =>
      Effect.succeed(error._tag === "vitrine/SourceFailed" && error.isTransient === true)
    ),
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
