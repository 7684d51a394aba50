/**
 * Fetching again and again, and when.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as ScheduleDecision from "effect/ScheduleDecision"
import * as ScheduleIntervals from "effect/ScheduleIntervals"
import type { Fetches } from "../../internal/schedules.ts"
import type { FetchError } from "../../services/Content.ts"
import type { NextFetch } from "./contentStatus.ts"

/** Fetches at once, then again as the schedule says; `setNext` is told when. */
export const keepFetching = (
  fetch: Effect.Effect<unknown, FetchError>,
  schedule: Fetches,
  setNext: (next: Option.Option<NextFetch>) => Effect.Effect<void>
) =>
  Effect.zipRight(setNext(Option.none()), fetchQuietly(fetch)).pipe(
    Effect.repeat(
      Schedule.onDecision(schedule, (failures, decision) =>
        ScheduleDecision.isContinue(decision)
          ? setNext(Option.some({ at: ScheduleIntervals.start(decision.intervals), isRetry: failures > 0 }))
          : Effect.void
      )
    )
  )

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
