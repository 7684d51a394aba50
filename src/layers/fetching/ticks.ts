/**
 * Decides when content is fetched: at the start, then at each tick of the schedule if there is something new.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import * as ScheduleDecision from "effect/ScheduleDecision"
import * as ScheduleIntervals from "effect/ScheduleIntervals"
import * as Stream from "effect/Stream"
import { endedBy, type Fetches } from "../../internal/Schedules.ts"
import type { FetchError } from "../../services/Content.ts"
import type { ContentSlice } from "./contentState.ts"
import type { PollResult } from "./Provider.ts"

/** The actions at a tick. */
interface Steps {
  readonly fetch: Effect.Effect<unknown, FetchError>
  /** As `fetch`, only for the changes that the previous poll found. */
  readonly fetchNew: Effect.Effect<unknown, FetchError>
  readonly poll: Effect.Effect<PollResult, FetchError> | undefined
  readonly pollFailed: (error: FetchError) => Effect.Effect<unknown, FetchError>
  readonly isRetried: Effect.Effect<boolean>
  readonly sweepIfDue: Effect.Effect<void>
  /** Emits when there may be something new between ticks. */
  readonly changes: Stream.Stream<void>
}

/** Fetches for ever, and keeps the time of the next fetch in the slice. */
export const keepFetching = Effect.fnUntraced(function* (
  steps: Steps,
  schedule: Fetches,
  slice: ContentSlice
) {
  const changed = yield* Queue.sliding<void>(1)
  const driver = yield* Schedule.driver(noting(schedule, slice))
  const pause = (isTransient: boolean) => Effect.orElse(driver.next(isTransient), () => Effect.never)
  // One fetch after the other: a fetch misses changes that happen while it runs.
  const fetching = slice
    .note(({ nextFetch, ...before }) => before)
    .pipe(
      Effect.zipRight(fetchQuietly(Effect.zipRight(tick(steps, slice), steps.isRetried))),
      // A change that arrives just as the pause ends is not lost: a tick follows.
      Effect.flatMap((isTransient) => Effect.asVoid(endedBy(pause(isTransient))(Queue.take(changed)))),
      Effect.forever
    )
  return yield* Effect.zipRight(
    fetching,
    Stream.runForEach(steps.changes, () => Queue.offer(changed, undefined)).pipe(
      Effect.catchAllCause((cause) => Effect.logError("A source no longer reports changes", cause))
    ),
    { concurrent: true }
  )
})

/** The schedule, which notes the time of the next fetch. */
const noting = (schedule: Fetches, slice: ContentSlice): Fetches =>
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

const tick = ({ fetch, fetchNew, poll, pollFailed, sweepIfDue }: Steps, slice: ContentSlice) =>
  poll === undefined
    ? fetch
    : Effect.matchEffect(markPolling(poll, slice), {
        onFailure: (error) => Effect.zipRight(sweepIfDue, pollFailed(error)),
        onSuccess: (found) =>
          Effect.flatMap(slice.get, ({ lastFetch }) => {
            const hasFetched = lastFetch !== undefined && !("error" in lastFetch)
            return found === "new" ? fetchNew : found === "same" && !hasFetched ? fetch : sweepIfDue
          })
      })

const markPolling = <A, E>(poll: Effect.Effect<A, E>, { note }: ContentSlice) =>
  Effect.acquireUseRelease(
    note((before) => ({ ...before, isPolling: true })),
    () => poll,
    () => note(({ isPolling, ...before }) => before)
  )

/** Gives whether to try again soon. The error is reported already; a defect must not end the loop either. */
const fetchQuietly = (fetch: Effect.Effect<boolean, FetchError>) =>
  fetch.pipe(
    Effect.catchAll((error) => Effect.succeed(error.isTransient)),
    Effect.catchAllCause((cause) =>
      Effect.as(
        Cause.isDie(cause) ? Effect.logError("A fetch ended unexpectedly", cause) : Effect.void,
        false
      )
    )
  )
