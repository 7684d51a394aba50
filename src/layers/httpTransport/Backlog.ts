/**
 * The replay backlog as clients are given it: what it has of the names that are replayed, kept in step with what is live.
 *
 * It reads in bounded time, and again later where that fails or there may be more. What follows from what was read is decided
 * by `Replay.ts`.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { messageOf } from "../../internal/SerializedError.ts"
import { resubscribe } from "../../internal/schedules.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import { type RememberedEvent, ReplayBacklog, ReplayBacklogError } from "../../services/ReplayBacklog.ts"
import * as SseFrame from "../http/SseFrame.ts"
import * as Replay from "./Replay.ts"

export interface Backlog {
  /** What the backlog has of the names that are replayed; `undefined` if it cannot be read, which is logged once. */
  readonly read: Effect.Effect<ReadonlyArray<RememberedEvent> | undefined>

  /** What it has whenever it was to be read again, as soon as it can be read. Never ends. */
  readonly rereads: Stream.Stream<ReadonlyArray<RememberedEvent>>

  /** What an input means for clients. It has the backlog read again where that may have more soon. */
  readonly advance: (input: Replay.Input) => Replay.Output

  /** What the stream of a client begins with now: `retry` and the replayed events. The same bytes until these change. */
  readonly preamble: () => Uint8Array
}

/** How long the backlog may take to be read. */
const readTimeout = "5 seconds"

/** Another process may still be remembering what was missed here. */
const rereadAfter = "1 second"

const noAnswer = new ReplayBacklogError({ action: "read", detail: "no response within 5 seconds" })

export const make = Effect.fnUntraced(function* (isReplayed: (name: string) => boolean) {
  const { snapshot } = yield* ReplayBacklog
  /** Requests to read it again; at most one waits. */
  const requests = yield* Queue.sliding<void>(1)
  const unreadable = makeWarnWhile(
    (message) => `The replay backlog cannot be read, and clients may miss events until it can: ${message}`
  )

  const read = snapshot.pipe(
    Effect.timeoutFail({ duration: readTimeout, onTimeout: () => noAnswer }),
    // Others may remember into the same backlog.
    Effect.map((events) => events.filter(({ name }) => isReplayed(name))),
    Effect.zipLeft(unreadable.works),
    Effect.sandbox,
    Effect.tapError((cause) => unreadable.fails(messageOf(Cause.squash(cause))))
  )

  // Advanced in the same synchronous step in which frames are taken, and read in that in which a client joins.
  let state = Replay.initial
  let encoded = { view: state.view, bytes: Buffer.from(SseFrame.retry) }

  const backlog: Backlog = {
    read: Effect.orElseSucceed(read, () => undefined),
    rereads: Stream.mapEffect(Stream.fromQueue(requests), () =>
      Effect.orDie(Effect.delay(Effect.retry(read, resubscribe), rereadAfter))
    ),
    advance: (input) => {
      const { output, reread, state: next } = Replay.step(state, input)
      state = next
      if (reread) {
        requests.unsafeOffer(undefined)
      }
      return output
    },
    preamble: () => {
      if (encoded.view !== state.view) {
        const frames = Replay.replayed(state).map(({ data, name }) => SseFrame.event(name, data))
        encoded = { view: state.view, bytes: Buffer.from(SseFrame.retry + frames.join("")) }
      }
      return encoded.bytes
    }
  }
  return backlog
})
