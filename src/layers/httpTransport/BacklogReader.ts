/**
 * The replay backlog as the event stream reads it: in bounded time, and again later where it fails or may have more.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { messageOf } from "../../internal/SerializedError.ts"
import { resubscribe } from "../../internal/schedules.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import { type RememberedEvent, ReplayBacklog, ReplayBacklogError } from "../../services/ReplayBacklog.ts"

export interface BacklogReader {
  /** What the backlog has of the names that are replayed; `undefined` if it cannot be read, which is logged once. */
  readonly read: Effect.Effect<ReadonlyArray<RememberedEvent> | undefined>

  /** Has the backlog read again soon. */
  readonly readAgain: () => void

  /** Gives what it has whenever it was to be read again, as soon as it can be read. Never ends. */
  readonly rereads: (
    take: (events: ReadonlyArray<RememberedEvent>) => Effect.Effect<unknown>
  ) => Effect.Effect<never>
}

/** How long the backlog may take to be read. */
const readTimeout = "5 seconds"

/** Another process may still be remembering what was missed here. */
const rereadAfter = "1 second"

const noAnswer = new ReplayBacklogError({ action: "read", detail: "no answer within 5 seconds" })

export const make = Effect.fnUntraced(function* (isReplayed: (name: string) => boolean) {
  const backlog = yield* ReplayBacklog
  /** At most once more than it is being read. */
  const requests = yield* Queue.sliding<void>(1)
  const unreadable = makeWarnWhile(
    (message) => `The replay backlog cannot be read, and clients may miss events until it can: ${message}`
  )

  const read = backlog.snapshot.pipe(
    Effect.timeoutFail({ duration: readTimeout, onTimeout: () => noAnswer }),
    // Others may remember into the same backlog.
    Effect.map((events) => events.filter(({ name }) => isReplayed(name))),
    Effect.zipLeft(unreadable.works),
    Effect.sandbox,
    Effect.tapError((cause) => unreadable.fails(messageOf(Cause.squash(cause))))
  )

  const reader: BacklogReader = {
    read: Effect.orElseSucceed(read, () => undefined),
    readAgain: () => void requests.unsafeOffer(undefined),
    rereads: (take) =>
      Queue.take(requests).pipe(
        Effect.zipRight(Effect.delay(Effect.retry(read, resubscribe), rereadAfter)),
        Effect.flatMap(take),
        Effect.ignore,
        Effect.forever
      )
  }
  return reader
})
