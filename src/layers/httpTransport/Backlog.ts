/**
 * The replay backlog of a transport: the last event of each replayed name, for clients that join later.
 *
 * It keeps the order of the live events. It stores replayed events in the `ReplayBacklog` service, and reads them from there
 * when a feed begins or has a gap. A client that joins does not wait for the service.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FiberHandle from "effect/FiberHandle"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { makeLatestEvents } from "../../internal/keptEvents.ts"
import { resubscribe } from "../../internal/Schedules.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import { type RememberedEvent, ReplayBacklog, ReplayBacklogError } from "../../services/ReplayBacklog.ts"
import * as SseFrame from "../http/SseFrame.ts"

export interface Backlog {
  /** The first bytes of a new stream: `retry` and the replayed events. The same object until the events change. */
  readonly preamble: () => Uint8Array

  /**
   * Begins a feed, which may number its events differently, at the sequence `first`. Reads the backlog before the first event,
   * for at most five seconds.
   * Until the scope ends, it reads again after a failure, which is logged once, and a second after a gap. Calls `endStreams`
   * whenever it learns of events that clients have missed.
   */
  readonly open: (
    endStreams: () => void,
    first: number | undefined
  ) => Effect.Effect<void, never, Scope.Scope>

  /** Handles the next event of the feed; `data` is its payload if its name is replayed. */
  readonly take: (event: FeedEvent) => Delivery

  /** Ends the feed. Gives up events that are not stored within half a second: the next feed may number them differently. */
  readonly forget: Effect.Effect<void>
}

export interface FeedEvent {
  readonly name: string
  readonly sequence: number
  readonly data: string | undefined
}

/** How an event is sent to clients. */
export interface Delivery {
  /** Whether the event comes after all events that clients have. If not, it is not sent. */
  readonly isNext: boolean
  /** Whether clients have missed events before it, so that their streams must end. */
  readonly isBreak: boolean
  /** How many events the bus has dropped before it. */
  readonly missing: number
}

/** How long reading the backlog may take. */
const readTimeout = "5 seconds"

/** Another process may still be storing the missed events. */
const rereadAfter = "1 second"

const noAnswer = new ReplayBacklogError({ action: "read", detail: "no response within 5 seconds" })

export const make = Effect.fnUntraced(function* (isReplayed: (name: string) => boolean) {
  const { snapshot } = yield* ReplayBacklog
  const { forget, remember } = yield* makeRemembering
  /** Requests to read the backlog again; at most one waits. */
  const requests = yield* Queue.sliding<void>(1)
  const unreadable = makeWarnWhile(
    (message) => `The replay backlog cannot be read, and clients may miss events until it can: ${message}`
  )

  // These change in the same synchronous step that handles events or ends streams, so that a new client misses no event.
  let latest = makeLatestEvents<RememberedEvent>()
  /** The greatest sequence in the service so far. */
  let lastStored = Number.NEGATIVE_INFINITY
  /** The sequence of the last event of the feed. */
  let lastSequence: number | undefined
  /** The sequence at which the feed begins, if the bus tells it. */
  let firstSequence: number | undefined
  let encoded = { events: latest.inOrder(), bytes: Buffer.from(SseFrame.retry) }

  const read = snapshot.pipe(
    Effect.timeoutFail({ duration: readTimeout, onTimeout: () => noAnswer }),
    // Others may store events in the same backlog.
    Effect.map((events) => events.filter(({ name }) => isReplayed(name))),
    Effect.zipLeft(unreadable.works),
    Effect.sandbox,
    Effect.tapError((cause) => unreadable.fails(messageOf(Cause.squash(cause))))
  )

  /** Whether any of these is new. */
  const learn = (events: ReadonlyArray<RememberedEvent>) => {
    lastStored = Math.max(lastStored, ...events.map(({ sequence }) => sequence))
    return events.filter(latest.add).length > 0
  }

  const backlog: Backlog = {
    preamble: () => {
      const events = latest.inOrder()
      if (encoded.events !== events) {
        const frames = events.map(({ data, name }) => SseFrame.event(name, data))
        encoded = { events, bytes: Buffer.from(SseFrame.retry + frames.join("")) }
      }
      return encoded.bytes
    },

    open: Effect.fnUntraced(function* (endStreams, first) {
      yield* forget
      const stored = yield* Effect.option(read)
      latest = makeLatestEvents()
      lastStored = Number.NEGATIVE_INFINITY
      lastSequence = undefined
      firstSequence = first
      learn(Option.getOrElse(stored, () => []))
      endStreams()
      if (Option.isNone(stored)) {
        requests.unsafeOffer(undefined)
      }
      const reread = Effect.map(Effect.retry(read, resubscribe), (events) => {
        if (learn(events)) {
          endStreams()
        }
      })
      yield* Stream.fromQueue(requests).pipe(
        Stream.runForEach(() => Effect.delay(reread, rereadAfter)),
        Effect.forkScoped
      )
    }),

    take: ({ data, name, sequence }) => {
      const expected = lastSequence === undefined ? (firstSequence ?? sequence) : lastSequence + 1
      const missing = Math.max(0, sequence - expected)
      // Nothing else reveals events before the feed that another process has not stored yet.
      if (missing > 0 || (lastSequence === undefined && sequence > Math.max(0, lastStored) + 1)) {
        requests.unsafeOffer(undefined)
      }
      const isNext = sequence > Math.max(lastStored, lastSequence ?? Number.NEGATIVE_INFINITY)
      const isNew = data !== undefined && latest.add({ name, data, sequence })
      if (isNew) {
        remember({ name, data, sequence })
      }
      lastSequence = Math.max(sequence, lastSequence ?? sequence)
      return { isNext, isBreak: missing > 0 || (isNew && !isNext), missing }
    },

    forget
  }
  return backlog
})

/** How long the end of a feed waits until its events are stored. */
const grace = "500 millis"

/** Stores events in the `ReplayBacklog` service. */
export interface Remembering {
  /** Queues an event; only the latest of each name is kept. */
  readonly remember: (event: RememberedEvent) => void
  /** Gives up events that are not stored within half a second. */
  readonly forget: Effect.Effect<void>
}

/** Retries until the service works. A failure is logged once until the service works again. */
export const makeRemembering = Effect.gen(function* () {
  const backlog = yield* ReplayBacklog
  const waiting = new Map<string, RememberedEvent>()
  const worker = yield* FiberHandle.make<void, never>()
  const run = yield* FiberHandle.runtime(worker)()
  const warning = makeWarnWhile(
    (message) => `The replay backlog fails, and clients that connect later may miss events: ${message}`
  )

  const enqueue = (event: RememberedEvent) => {
    // A Map keeps the place of a key that is set again; only a new key goes to the end.
    waiting.delete(event.name)
    waiting.set(event.name, event)
  }

  const rememberFirst = Effect.suspend(() => {
    const [event] = waiting.values()
    if (event === undefined) {
      return Effect.void
    }
    const isWaiting = () => waiting.get(event.name) === event
    return backlog.remember(event).pipe(
      // An event that the backlog refuses must not block the others.
      Effect.tapErrorCause(() => Effect.sync(() => isWaiting() && enqueue(event))),
      Effect.zipRight(Effect.sync(() => isWaiting() && waiting.delete(event.name))),
      Effect.zipRight(warning.works)
    )
  })

  const rememberAll = Effect.whileLoop({
    while: () => waiting.size > 0,
    body: () => rememberFirst,
    step: () => {}
  }).pipe(
    Effect.sandbox,
    Effect.tapError((cause) => warning.fails(messageOf(Cause.squash(cause)))),
    Effect.retry(resubscribe),
    Effect.ignore
  )

  const forget = Effect.gen(function* () {
    if (!(yield* warning.isFailing)) {
      yield* Effect.timeoutOption(Effect.interruptible(FiberHandle.awaitEmpty(worker)), grace)
    }
    waiting.clear()
    yield* FiberHandle.clear(worker)
  })
  yield* Effect.addFinalizer(() => forget)

  const remembering: Remembering = {
    remember: (event) => {
      const isIdle = waiting.size === 0
      enqueue(event)
      if (isIdle) {
        run(rememberAll)
      }
    },
    forget
  }
  return remembering
})
