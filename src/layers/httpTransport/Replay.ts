/**
 * What a client is given first, in step with the feed and with the backlog.
 *
 * It owns the order of events: which of them clients have seen, and what a gap or a new feed makes of that. It reads the
 * backlog when a feed is new or has a gap, and never when a client joins.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { growingPauses } from "../../internal/growingPauses.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import type { BusEvent } from "../../services/EventBus.ts"
import { type RememberedEvent, ReplayBacklog, ReplayBacklogError } from "../../services/ReplayBacklog.ts"
import * as ReplayView from "./ReplayView.ts"
import { makeRemembering } from "./remembering.ts"

export interface Replay {
  /** What a stream begins with. The same bytes until something changes. */
  readonly preamble: () => Uint8Array

  /** Takes note of the next event of the feed. One behind a gap is not taken: `repair` comes first. */
  readonly receive: (event: BusEvent) => "new" | "known" | "gap"

  /** Keeps an event as the latest of its name, here and, soon, in the backlog. */
  readonly remember: (event: RememberedEvent) => void

  /** Makes ready for a new feed, which has begun. The scope is that of the feed. */
  readonly open: Effect.Effect<void, never, Scope.Scope>

  /** Gives up what belongs to the feed that is lost. */
  readonly lost: Effect.Effect<void>

  /** Hands out what the backlog has of a gap in front of the event, and gives how many events are missing still. */
  readonly repair: (next: BusEvent) => Effect.Effect<number, never, Scope.Scope>
}

export interface Options {
  /** Whether events of that name are kept for clients that come later. */
  readonly isReplayed: (name: string) => boolean

  /** Sends events to all clients. */
  readonly send: (events: ReadonlyArray<RememberedEvent>) => void

  /** Ends all streams: whoever comes back is given everything in order. */
  readonly endStreams: Effect.Effect<void>
}

/** How long the backlog may take to be read. */
const readTimeout = "5 seconds"

/** Another process may still be remembering what was missed here. */
const rereadAfter = "1 second"

const noAnswer = new ReplayBacklogError({ action: "read", detail: "no answer within 5 seconds" })

export const make = Effect.fnUntraced(function* ({ endStreams, isReplayed, send }: Options) {
  const backlog = yield* ReplayBacklog
  const remembering = yield* makeRemembering
  const unreadable = makeWarnWhile(
    (message) => `The replay backlog cannot be read, and clients may miss events until it can: ${message}`
  )
  const view = ReplayView.make()
  /** The sequence of the last event of this feed. */
  let last: number | undefined
  /** Of what clients have seen, the greatest sequence. */
  let shown = Number.NEGATIVE_INFINITY
  /** That the backlog is to be read later: at most once more than it is being read. */
  const rereads = yield* Queue.sliding<void>(1)

  const read = backlog.snapshot.pipe(
    Effect.timeoutFail({ duration: readTimeout, onTimeout: () => noAnswer }),
    // Others may remember into the same backlog.
    Effect.map((events) => events.filter(({ name }) => isReplayed(name))),
    Effect.zipLeft(unreadable.works),
    Effect.sandbox,
    Effect.mapError((cause) => messageOf(Cause.squash(cause))),
    Effect.tapError(unreadable.fails)
  )

  /**
   * Sends what is not known here, and gives how many events that were. Where some of them are older than what clients have
   * seen, the streams are ended instead.
   */
  const catchUp = (events: ReadonlyArray<RememberedEvent>, upTo: number) =>
    Effect.suspend(() => {
      const missed = view.learn(events, upTo)
      const isInOrder = missed.every(({ sequence }) => sequence > shown)
      shown = Math.max(shown, ...missed.map(({ sequence }) => sequence))
      if (!isInOrder) {
        return Effect.as(endStreams, missed.length)
      }
      send(missed)
      return Effect.succeed(missed.length)
    })

  const readLater = Queue.offer(rereads, undefined)

  /** Reads the backlog again where that was asked for, and until it works. */
  const reread = Queue.take(rereads).pipe(
    Effect.zipRight(Effect.delay(Effect.retry(read, growingPauses), rereadAfter)),
    Effect.flatMap((events) => catchUp(events, last ?? Number.POSITIVE_INFINITY)),
    Effect.ignore
  )

  /** Ends the streams of those who have seen something else. */
  const replace = (events: ReadonlyArray<RememberedEvent>) =>
    Effect.suspend(() => {
      view.replace(events)
      return endStreams
    })

  /** The numbering may be another than before: only what continues the view is sent to who has seen that. */
  const begin = (events: ReadonlyArray<RememberedEvent>) =>
    Effect.suspend(() =>
      view.isContinuedBy(events) ? Effect.asVoid(catchUp(events, Number.POSITIVE_INFINITY)) : replace(events)
    ).pipe(
      Effect.zipRight(
        Effect.sync(() => {
          shown = Math.max(Number.NEGATIVE_INFINITY, ...events.map(({ sequence }) => sequence))
        })
      )
    )

  const beginWithNothing = Effect.suspend(() => {
    shown = Number.NEGATIVE_INFINITY
    return Effect.zipRight(replace([]), readLater)
  })

  const replay: Replay = {
    preamble: view.preamble,
    receive: ({ name, sequence }) => {
      if (last !== undefined && sequence > last + 1) {
        return "gap"
      }
      if (last !== undefined && sequence <= last) {
        return "known"
      }
      if (last === undefined && sequence > Math.max(0, shown) + 1) {
        // What the bus has lost in front of the first event does not show.
        rereads.unsafeOffer(undefined)
      }
      const isKnown = sequence <= (isReplayed(name) ? view.sequenceOf(name) : shown)
      last = sequence
      shown = Math.max(shown, sequence)
      return isKnown ? "known" : "new"
    },
    remember: (event) => {
      view.add(event)
      remembering.remember(event)
    },
    open: Effect.suspend(() => {
      last = undefined
      return Effect.matchEffect(read, { onSuccess: begin, onFailure: () => beginWithNothing })
    }).pipe(Effect.zipRight(Effect.forkScoped(Effect.forever(reread)))),
    lost: remembering.forget,
    repair: ({ sequence }) =>
      Effect.gen(function* () {
        const missing = sequence - (last ?? sequence) - 1
        const found = yield* Effect.matchEffect(read, {
          onSuccess: (events) => catchUp(events, sequence - 1),
          onFailure: () => Effect.succeed(0)
        })
        last = sequence - 1
        if (found < missing) {
          yield* readLater
        }
        return missing - found
      })
  }
  return replay
})
