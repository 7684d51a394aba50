/**
 * The one place where events become frames and frames reach clients (specification, section 4.1 and 4.2).
 *
 * It subscribes to the bus, reads the backlog once, and from then on keeps a view of its own: a client that joins is
 * given that, without waiting for anything. Events are encoded once, however many clients there are. Remembering
 * happens beside the forwarding.
 *
 * The hub knows nothing of sockets: a client is a `FrameSink`.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Runtime from "effect/Runtime"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { growingPauses } from "../../internal/growingPauses.ts"
import { encodeJson } from "../../internal/JsonText.ts"
import { printableStart } from "../../internal/printable.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { makeWarnOnce, makeWarnWhile } from "../../internal/warnOnce.ts"
import type { BusEvent } from "../../services/EventBus.ts"
import type { TransportStatistics } from "../../services/HttpTransport.ts"
import { type RememberedEvent, ReplayBacklog, ReplayBacklogError } from "../../services/ReplayBacklog.ts"
import { type FrameSink, makeFanOut } from "../fanOut/FanOut.ts"
import { type FeedProblem, keepSubscribed } from "../fanOut/keepSubscribed.ts"
import { makeStreamSink } from "../fanOut/StreamSink.ts"
import { type Client, groupsOf, type Member, type StreamGroup } from "./Audience.ts"
import * as EventFilter from "./EventFilter.ts"
import type { HttpTransportOptions } from "./HttpTransportOptions.ts"
import { makeRemembering } from "./remembering.ts"
import * as SseFrame from "./SseFrame.ts"
import { makeRecorder } from "./statistics.ts"
import * as View from "./View.ts"

export interface Hub {
  /** Makes the sink that of a client: it is given `retry` and the backlog, then everything live. */
  readonly join: (sink: FrameSink, client?: Client) => Effect.Effect<void, TooManyClients>

  /**
   * A client as a Stream of frames: `retry` and the backlog, then everything live. It ends when the hub closes or loses
   * its feed, or when it lags too far behind. It is a client until the scope ends.
   */
  readonly stream: (client?: Client) => Effect.Effect<Stream.Stream<Uint8Array>, TooManyClients, Scope.Scope>

  /** From now on the sink is given nothing more, and its slot is free. Harmless for one that is no client. */
  readonly leave: (sink: FrameSink) => void

  readonly statistics: Effect.Effect<TransportStatistics>

  /** Who has the streams that are open now, the one with the most first. */
  readonly streams: Effect.Effect<ReadonlyArray<StreamGroup>>

  /** Why no events come from the bus, where none do. */
  readonly problem: Effect.Effect<Option.Option<FeedProblem>>

  /** Ends all streams; whoever joins afterwards is ended at once. */
  readonly close: Effect.Effect<void>
}

export class TooManyClients extends Schema.TaggedError<TooManyClients>()("vitrine/TooManyClients", {
  maxClients: Schema.Number
}) {
  override get message() {
    return `Too many SSE clients: all ${this.maxClients} event streams are in use. Raise "maxClients", or close a client.`
  }
}

/** A name as the log may show it. */
const shownName = (name: string): string => printableStart(JSON.stringify(name), 100)

/** How long the backlog may take to be read. */
const readTimeout = "5 seconds"

/** Another process may still be remembering what was missed here. */
const rereadAfter = "1 second"

const noAnswer = new ReplayBacklogError({ action: "read", detail: "no answer within 5 seconds" })

export type Options = Pick<HttpTransportOptions, "events" | "keepAliveMs" | "maxClients" | "replayEvents">

/** A hub that lives as long as the scope. It has subscribed, or tried to, when this Effect returns. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const backlog = yield* ReplayBacklog
  const clock = yield* Effect.clock
  const { forget, remember } = yield* makeRemembering
  const isForwarded = EventFilter.make(options.events)
  const replayed = new Set(options.replayEvents)
  /** Others may remember into the same backlog. */
  const isOwn = ({ name }: RememberedEvent) =>
    replayed.has(name) && isForwarded(name) && SseFrame.isEventName(name)
  const warnOfName = makeWarnOnce(
    (name) => `Events named ${shownName(name)} are not forwarded: the name has a line break or a NUL.`
  )
  const warnOfPayload = makeWarnOnce(
    (name) => `An event ${shownName(name)} has what JSON cannot hold: a placeholder is sent in its place.`
  )
  const unreadable = makeWarnWhile(
    (message) => `The replay backlog cannot be read, and clients may miss events until it can: ${message}`
  )
  const warnOfGap = yield* Effect.once(
    Effect.logWarning(
      "The event bus has left out events: they came faster than they could be forwarded, or the bus has lost them. Of names that are replayed, clients are given the latest that the backlog has; the others they do not see."
    )
  )
  const warnOfFlood = yield* Effect.once(
    Effect.logWarning(
      "Events are published faster than they can be sent: the oldest are dropped, and clients do not see them."
    )
  )
  const fork = Runtime.runFork(yield* Effect.runtime())
  const recorder = makeRecorder()
  const fanOut = makeFanOut<FrameSink, Member>({
    dropped: recorder.dropped,
    missed: (frames) => {
      recorder.missed(frames)
      fork(warnOfFlood)
    }
  })
  const view = View.make()
  /** The sequence of the last event of this feed. */
  let last: number | undefined
  /** Of what clients have seen, the greatest sequence. */
  let shown = -1
  /** That the backlog is to be read later: at most once more than it is being read. */
  const rereads = yield* Queue.sliding<void>(1)
  let isClosed = false
  const unsendable = new Set<string>()
  const incomplete = new Set<string>()

  const send = (name: string, data: string) => {
    if (fanOut.size() > 0) {
      fanOut.add(SseFrame.event(name, data))
    }
  }

  /** Whether it is forwarded. */
  const takeOne = ({ name, payload, sequence }: BusEvent): boolean => {
    const isReplayed = replayed.has(name)
    const isKnown = sequence <= (isReplayed ? view.sequenceOf(name) : shown)
    shown = Math.max(shown, sequence)
    if (isKnown || !isForwarded(name)) {
      return false
    }
    if (!SseFrame.isEventName(name)) {
      unsendable.add(name)
      return false
    }
    if (isReplayed || fanOut.size() > 0) {
      const { isComplete, text: data } = encodeJson(payload)
      if (!isComplete) {
        incomplete.add(name)
      }
      if (isReplayed) {
        const event = { name, data, sequence }
        view.add(event)
        remember(event)
      }
      send(name, data)
    }
    return true
  }

  /** Forwards events up to a gap, and gives the index of the one behind it, or their number. It never waits. */
  const forward = (events: ReadonlyArray<BusEvent>, from: number): number => {
    let index = from
    let forwarded = 0
    let lastName = ""
    for (; index < events.length; index++) {
      const event = events[index]
      if (event === undefined || (last !== undefined && event.sequence > last + 1)) {
        break
      }
      if (last === undefined && event.sequence > shown + 1) {
        // What the bus has lost in front of the first event does not show.
        rereads.unsafeOffer(undefined)
      }
      if (last === undefined || event.sequence > last) {
        last = event.sequence
        if (takeOne(event)) {
          forwarded += 1
          lastName = event.name
        }
      }
    }
    if (forwarded > 0) {
      recorder.forwarded(forwarded, lastName, clock.unsafeCurrentTimeMillis())
      fanOut.flush()
    }
    return index
  }

  const warn = Effect.suspend(() => {
    const warnings = [...[...unsendable].map(warnOfName), ...[...incomplete].map(warnOfPayload)]
    unsendable.clear()
    incomplete.clear()
    return Effect.all(warnings, { discard: true })
  })

  /** Gives an Effect only where something is wrong. */
  const take = (
    events: ReadonlyArray<BusEvent>,
    from = 0
  ): Effect.Effect<void, never, Scope.Scope> | undefined => {
    const index = forward(events, from)
    const next = events[index]
    if (next !== undefined) {
      return Effect.zipRight(
        repair(next),
        Effect.suspend(() => take(events, index) ?? Effect.void)
      )
    }
    return unsendable.size + incomplete.size === 0 ? undefined : warn
  }

  const endStreams = Effect.sync(() => {
    for (const [sink] of [...fanOut.clients()]) {
      leave(sink)
      sink.end()
    }
  })

  const read = backlog.snapshot.pipe(
    Effect.timeoutFail({ duration: readTimeout, onTimeout: () => noAnswer }),
    Effect.map((events) => events.filter(isOwn)),
    Effect.zipLeft(unreadable.works),
    Effect.sandbox,
    Effect.mapError((cause) => messageOf(Cause.squash(cause))),
    Effect.tapError(unreadable.fails)
  )

  /**
   * Hands out what the backlog has that is not known here, and gives how many events that were. Where some of them are
   * older than what clients have seen, the streams are ended instead: who comes back is given all in order.
   */
  const catchUp = (events: ReadonlyArray<RememberedEvent>, upTo: number) =>
    Effect.suspend(() => {
      const missed = view.learn(events, upTo)
      const isInOrder = missed.every(({ sequence }) => sequence > shown)
      shown = Math.max(shown, ...missed.map(({ sequence }) => sequence))
      if (!isInOrder) {
        return Effect.as(endStreams, missed.length)
      }
      for (const { data, name } of missed) {
        send(name, data)
      }
      fanOut.flush()
      return Effect.succeed(missed.length)
    })

  const readLater = Queue.offer(rereads, undefined)

  /** Reads the backlog again where that was asked for, and until it works. */
  const reread = Queue.take(rereads).pipe(
    Effect.zipRight(Effect.delay(Effect.retry(read, growingPauses), rereadAfter)),
    Effect.flatMap((events) => catchUp(events, last ?? Number.POSITIVE_INFINITY)),
    Effect.ignore
  )

  const repair = ({ sequence }: BusEvent) =>
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
      recorder.missed((missing - found) * fanOut.size())
      yield* warnOfGap
    })

  const begin = Effect.matchEffect(read, {
    onSuccess: (events) =>
      Effect.suspend(() => {
        if (view.leadsTo(events)) {
          return catchUp(events, Number.POSITIVE_INFINITY)
        }
        view.replace(events)
        return endStreams
      }).pipe(
        Effect.tap(() => {
          shown = Math.max(-1, ...events.map(({ sequence }) => sequence))
        })
      ),
    onFailure: () => {
      view.replace([])
      shown = -1
      return Effect.zipRight(endStreams, readLater)
    }
  })

  const pings = Stream.fromSchedule(Schedule.spaced(options.keepAliveMs)).pipe(
    Stream.runForEach(() =>
      Effect.sync(() => {
        fanOut.add(SseFrame.ping)
        fanOut.flush()
      })
    )
  )

  const { problem } = yield* keepSubscribed({
    name: "The HTTP transport",
    open: Effect.suspend(() => {
      last = undefined
      return Effect.all([begin, Effect.forkScoped(pings), Effect.forkScoped(Effect.forever(reread))], {
        discard: true
      })
    }),
    take,
    lost: Effect.zipRight(endStreams, forget),
    meanwhile: pings
  })

  const join = (sink: FrameSink, client: Client = {}) =>
    Effect.suspend(() => {
      if (!isClosed && fanOut.size() >= options.maxClients) {
        return new TooManyClients({ maxClients: options.maxClients })
      }
      sink.begin(view.preamble())
      if (isClosed) {
        sink.end()
      } else {
        fanOut.join(sink, { ...client, since: performance.now() })
        recorder.joined(fanOut.size())
      }
      return Effect.void
    })

  const leave = (sink: FrameSink) => {
    if (fanOut.leave(sink)) {
      recorder.left()
    }
  }

  const stream = (client?: Client) =>
    Effect.flatMap(makeStreamSink, (sink) =>
      Effect.acquireRelease(Effect.as(join(sink, client), sink.frames), () => Effect.sync(() => leave(sink)))
    )

  const hub: Hub = {
    join,
    stream,
    leave,
    problem,
    statistics: Effect.sync(() => recorder.statistics(fanOut.size())),
    streams: Effect.sync(() =>
      groupsOf(
        Array.from(fanOut.clients(), ([, member]) => member),
        performance.now()
      )
    ),
    close: Effect.suspend(() => {
      isClosed = true
      return endStreams
    })
  }
  return hub
})
