/**
 * When content is fetched: at once, then at each tick of the schedule, where there is something new.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as ScheduleDecision from "effect/ScheduleDecision"
import * as ScheduleIntervals from "effect/ScheduleIntervals"
import type { Fetches } from "../../internal/schedules.ts"
import type { FetchError } from "../../services/Content.ts"
import type { ContentSlice } from "./contentState.ts"
import type { News } from "./Origin.ts"

/** What is done at a tick. */
interface Steps {
  readonly fetch: Effect.Effect<unknown, FetchError>
  /** As `fetch`, of what the look before has found. */
  readonly fetchNew: Effect.Effect<unknown, FetchError>
  readonly look: Effect.Effect<News, FetchError> | undefined
  readonly lookFailed: (error: FetchError) => Effect.Effect<unknown, FetchError>
  readonly sweepIfDue: Effect.Effect<void>
}

/** Never ends. The slice has when the next fetch is due. */
export const keepFetching = (steps: Steps, schedule: Fetches, slice: ContentSlice) =>
  Effect.zipRight(
    slice.note(({ nextFetch, ...before }) => before),
    fetchQuietly(tick(steps, slice))
  ).pipe(
    Effect.repeat(
      Schedule.onDecision(schedule, (failures, decision) =>
        ScheduleDecision.isContinue(decision)
          ? slice.note((before) => ({
              ...before,
              nextFetch: {
                at: new Date(ScheduleIntervals.start(decision.intervals)).toISOString(),
                isRetry: failures > 0
              }
            }))
          : Effect.void
      )
    )
  )

const tick = ({ fetch, fetchNew, look, lookFailed, sweepIfDue }: Steps, slice: ContentSlice) =>
  look === undefined
    ? fetch
    : Effect.matchEffect(shown(look, slice), {
        onFailure: (error) => Effect.zipRight(sweepIfDue, lookFailed(error)),
        onSuccess: (news) =>
          Effect.flatMap(slice.get, ({ lastFetch }) => {
            const hasFetched = lastFetch !== undefined && !("error" in lastFetch)
            return news === "new" ? fetchNew : news === "same" && !hasFetched ? fetch : sweepIfDue
          })
      })

const shown = <A, E>(look: Effect.Effect<A, E>, { note }: ContentSlice) =>
  Effect.acquireUseRelease(
    note((before) => ({ ...before, isLooking: true })),
    () => look,
    () => note(({ isLooking, ...before }) => before)
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
