/**
 * SSE is an Effect Stream that merges the replay backlog, live PubSub events and a Schedule-driven ping: `clientStream`
 * composes it for a client, and the rest of the file makes its live events.
 *
 * Live events are filtered and encoded once for all clients. A gap of the bus, and each new feed, ends the streams of all
 * clients: they reconnect after `retry`, and get the backlog. An open stream never gets events that it missed.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import type * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { BusEvent } from "../../services/EventBus.ts"
import type { BusProblem } from "../../services/Slices.ts"
import { makeStreamSink } from "../fanOut/StreamSink.ts"
import * as Subscription from "../fanOut/Subscription.ts"
import type { TooManyClients } from "../http/errors.ts"
import * as SseFrame from "../http/SseFrame.ts"
import * as Backlog from "./Backlog.ts"
import * as Clients from "./Clients.ts"
import * as EventEncoder from "./EventEncoder.ts"
import type { HttpTransportOptions } from "./HttpTransportOptions.ts"

/** The parts of a stream. */
export interface Parts<A> {
  /** `retry`, and the replayed events. */
  readonly backlog: Stream.Stream<A>
  /** Events from now on. The stream ends when they end. */
  readonly live: Stream.Stream<A>
  /** Pings by a `Schedule`. They never end. */
  readonly pings: Stream.Stream<A>
}

/**
 * The stream of a client: its backlog, then live events merged with pings.
 *
 * Routes on another server run it once for each client (`makeStreams`). Our own port runs it once for all sockets
 * (`makeSockets`).
 */
export const clientStream = <A>({ backlog, live, pings }: Parts<A>): Stream.Stream<A> =>
  Stream.concat(
    backlog,
    // The failure ends the merge; without it, the merge would wait for the end of the pings.
    Stream.mergeAll([Stream.concat(live, Stream.fail("over")), pings], {
      concurrency: "unbounded",
      bufferSize: 4
    }).pipe(Stream.catchAll(() => Stream.empty))
  )

export interface Options
  extends Pick<HttpTransportOptions, "keepAliveMs">,
    EventEncoder.Options,
    Omit<Clients.Options, "preamble"> {
  /** The subject of messages in the log. */
  readonly subject: string
}

/** The event stream of a transport, for as long as its scope. */
export interface EventStream extends Pick<Clients.Clients, "clientState" | "close" | "statistics"> {
  /** Why no events come from the bus; `None` if events come. */
  readonly problem: Effect.Effect<Option.Option<BusProblem>>
  /** Emits when a client joins or leaves, and when the problem of the bus changes. */
  readonly changes: Stream.Stream<unknown>
}

/** An event stream whose clients are Streams. */
export interface Streams extends EventStream {
  /**
   * A client as a Stream of frames. It ends when all streams end, or when the client lags too far behind. The client keeps its
   * slot until the scope ends.
   */
  readonly stream: (
    client?: Clients.Client
  ) => Effect.Effect<Stream.Stream<Uint8Array>, TooManyClients, Scope.Scope>
}

/** An event stream whose clients are sockets. */
export interface Sockets extends EventStream, Pick<Clients.Clients, "join" | "leave"> {}

/** Runs a `clientStream` for each client. Returns when it has subscribed and has read the backlog, or has tried to. */
export const makeStreams = Effect.fnUntraced(function* (options: Options) {
  const { clients, eventStream } = yield* forward(options, identity)
  const ping = Buffer.from(SseFrame.ping)
  const pings = pingsOf(options, () => ping)
  const streams: Streams = {
    ...eventStream,
    stream: Effect.fnUntraced(function* (client) {
      const { backlog, live, sink, received } = yield* makeStreamSink
      yield* Effect.acquireRelease(clients.join(sink, client), () => Effect.sync(() => clients.leave(sink)))
      return Stream.mapChunks(clientStream({ backlog, live, pings }), received)
    })
  }
  return streams
})

/**
 * Runs one `clientStream` for all sockets of our own port. Each socket gets the backlog when it joins, and then bytes that all
 * sockets share. Returns when it has subscribed and has read the backlog, or has tried to.
 *
 * This saves a fiber, a queue and a timer for each client: with a merged Stream for each of 50 clients, it needed twelve times
 * the processor time and lost events of bursts (measured).
 */
export const makeSockets = Effect.fnUntraced(function* (options: Options) {
  const pings = pingsOf(options, () => [SseFrame.ping].values())
  const { clients, eventStream } = yield* forward(options, (live) =>
    clientStream({ backlog: Stream.empty, live, pings })
  )
  const sockets: Sockets = { ...eventStream, join: clients.join, leave: clients.leave }
  return sockets
})

const pingsOf = <A>({ keepAliveMs }: Options, ping: () => A): Stream.Stream<A> =>
  Stream.map(Stream.fromSchedule(Schedule.spaced(keepAliveMs)), ping)

/** Frames that are encoded when they are read. */
type Frames = Iterator<string, void>

/** Sends `whatIsSent`, with the live events of one feed after the other, to all clients until the scope ends. */
const forward = Effect.fnUntraced(function* (
  options: Options,
  whatIsSent: (live: Stream.Stream<Frames>) => Stream.Stream<Frames>
) {
  const encoder = yield* EventEncoder.make(options)
  const backlog = yield* Backlog.make(encoder.isReplayed)
  const clients = yield* Clients.make({ ...options, preamble: backlog.preamble })
  const { feeds, problem } = yield* Subscription.make(options.subject)
  const clock = yield* Effect.clock
  const log = Runtime.runFork(yield* Effect.runtime())
  const warnOfGap = yield* Effect.once(Effect.logWarning(gapWarning(options.subject)))

  /** The last feed that was opened. Frames of another one are late: feeds may number their events differently. */
  let openFeed: Subscription.Feed | undefined
  const framesOf = function* (feed: Subscription.Feed, events: Iterable<BusEvent>): Generator<string, void> {
    for (const event of events) {
      if (feed !== openFeed) {
        return
      }
      const { name, sequence } = event
      const isForwarded = encoder.isForwarded(name)
      const data = encoder.isReplayed(name) ? encoder.data(event) : undefined
      const { isNext, isBreak, missing } = backlog.take({ name, sequence, data })
      if (missing > 0) {
        clients.recorder.missed(missing * clients.size())
        log(warnOfGap)
      }
      if (isBreak) {
        clients.endStreams()
      }
      if (isNext && isForwarded) {
        clients.recorder.forwarded(name, clock.unsafeCurrentTimeMillis())
        // Without clients, an event that is not replayed need not be encoded.
        if (clients.size() > 0) {
          yield SseFrame.event(name, data ?? encoder.data(event))
        }
      }
    }
  }

  const open = (feed: Subscription.Feed) =>
    Effect.suspend(() => {
      openFeed = feed
      return Effect.zipRight(
        Effect.addFinalizer(() => backlog.forget),
        backlog.open(clients.endStreams, feed.first)
      )
    })

  /** Behind the frames that still wait in the merge. */
  const endOf = function* (feed: Subscription.Feed): Generator<string, void> {
    if (feed === openFeed) {
      clients.endStreams()
    }
  }

  /** After a failure the streams end, so that clients reconnect: otherwise they would not notice that events are missing. */
  const send = (frames: Frames): Effect.Effect<void> =>
    Effect.catchAllCause(clients.send(frames), (cause) =>
      Effect.zipRight(
        Effect.logError("An event could not be forwarded", cause),
        Effect.sync(clients.endStreams)
      )
    )

  const hasBegun = yield* Deferred.make<void>()
  const live = Stream.flatMap(feeds, (feed) =>
    Effect.when(open(feed), () => feed.isOpen).pipe(
      Effect.zipRight(Deferred.succeed(hasBegun, undefined)),
      Effect.as(Stream.map(Stream.chunks(feed.events), (events) => framesOf(feed, events))),
      Effect.map(Stream.concat(Stream.sync(() => endOf(feed)))),
      Stream.unwrapScoped
    )
  )
  yield* Effect.addFinalizer(() => Effect.sync(clients.endStreams))
  yield* Effect.forkScoped(Stream.runForEach(whatIsSent(live), send))
  // The first clients must get the backlog from before the start.
  yield* Deferred.await(hasBegun)

  const eventStream: EventStream = {
    ...clients,
    changes: Stream.merge(clients.changes, Stream.drop(problem.changes, 1)),
    problem
  }
  return { clients, eventStream }
})

const gapWarning = (subject: string) =>
  `The event bus has dropped events: they came faster than they could be forwarded, or the bus has lost them. ${subject} ends its event streams, so that clients reconnect and get the replayed events; other missed events are lost.`
