/**
 * The event stream of the transport: what is live on the bus merged with a ping by a schedule, and in front of it, for each
 * client, the replay backlog.
 *
 * Both are offered to one mailbox, which is read by one fiber, so each event is encoded once and handed to all clients. The
 * backlog is read when a feed of the bus begins or has a gap, never when a client joins.
 */
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Mailbox from "effect/Mailbox"
import type * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { growingPauses } from "../../internal/growingPauses.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import type { BusEvent } from "../../services/EventBus.ts"
import type { TransportStatistics } from "../../services/HttpTransport.ts"
import { ReplayBacklog, ReplayBacklogError } from "../../services/ReplayBacklog.ts"
import { type FrameSink, makeFanOut } from "../fanOut/FanOut.ts"
import { type FeedProblem, keepSubscribed } from "../fanOut/keepSubscribed.ts"
import { makeStreamSink } from "../fanOut/StreamSink.ts"
import { type Client, groupsOf, type Member, type StreamGroup } from "./Audience.ts"
import * as EventEncoder from "./EventEncoder.ts"
import type { HttpTransportOptions } from "./HttpTransportOptions.ts"
import * as Replay from "./Replay.ts"
import { makeRemembering } from "./remembering.ts"
import * as SseFrame from "./SseFrame.ts"
import { makeRecorder } from "./statistics.ts"

export interface EventStream {
  /** Makes the sink that of a client: it is given `retry` and the backlog, then everything live. */
  readonly join: (sink: FrameSink, client?: Client) => Effect.Effect<void, TooManyClients>

  /**
   * A client as a Stream of frames: `retry` and the backlog, then everything live. It ends when the event stream closes or
   * loses its feed, or when the client lags too far behind. It is a client until the scope ends.
   */
  readonly stream: (client?: Client) => Effect.Effect<Stream.Stream<Uint8Array>, TooManyClients, Scope.Scope>

  /** From now on the sink is given nothing more, and its slot is free. Harmless for one that is no client. */
  readonly leave: (sink: FrameSink) => void

  readonly statistics: Effect.Effect<TransportStatistics>

  /** Who has the streams that are open now, the one with the most first. */
  readonly streams: Effect.Effect<ReadonlyArray<StreamGroup>>

  /** Why no events come from the bus. None if they do. */
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

export type Options = Pick<HttpTransportOptions, "events" | "keepAliveMs" | "maxClients" | "replayEvents">

/** What is merged. */
type Input =
  | { readonly _tag: "Events"; readonly events: ReadonlyArray<BusEvent> }
  | { readonly _tag: "Ping" }
  | { readonly _tag: "Opened"; readonly done: Deferred.Deferred<void> }
  | { readonly _tag: "Lost" }
  | Extract<Replay.Input, { readonly _tag: "Reread" }>

/** How many inputs wait; of more, whoever offers them waits, and the bus drops events. */
const capacity = 4

/** How long the backlog may take to be read. */
const readTimeout = "5 seconds"

/** Another process may still be remembering what was missed here. */
const rereadAfter = "1 second"

const noAnswer = new ReplayBacklogError({ action: "read", detail: "no answer within 5 seconds" })

/**
 * An event stream that lives as long as the scope. It has subscribed, or tried to, when this Effect returns. `changed` is
 * called whenever a client has come or gone, or the feed has.
 */
export const make = Effect.fnUntraced(function* (options: Options, changed: () => void = () => {}) {
  const clock = yield* Effect.clock
  const backlog = yield* ReplayBacklog
  const remembering = yield* makeRemembering
  const inputs = yield* Mailbox.make<Input>({ capacity, strategy: "suspend" })
  const encoder = EventEncoder.make(options)
  const recorder = makeRecorder()
  const fanOut = makeFanOut<FrameSink, Member>((frames) => {
    recorder.dropped(frames)
    changed()
  })
  /** That the backlog is to be read again: at most once more than it is being read. */
  const rereads = yield* Queue.sliding<void>(1)
  // Read by whoever joins, in the same synchronous step in which its sink becomes that of a client.
  let replay = Replay.initial
  let encoded = { view: replay.view, bytes: Buffer.from(SseFrame.retry) }
  let isClosed = false

  const warnOfGap = yield* Effect.once(
    Effect.logWarning(
      "The event bus has left out events: they came faster than they could be forwarded, or the bus has lost them. Of names that are replayed, clients are given the latest that the backlog has; the others they do not see."
    )
  )
  const unreadable = makeWarnWhile(
    (message) => `The replay backlog cannot be read, and clients may miss events until it can: ${message}`
  )

  const readBacklog = backlog.snapshot.pipe(
    Effect.timeoutFail({ duration: readTimeout, onTimeout: () => noAnswer }),
    // Others may remember into the same backlog.
    Effect.map((events) => events.filter(({ name }) => encoder.isReplayed(name))),
    Effect.zipLeft(unreadable.works),
    Effect.sandbox,
    Effect.tapError((cause) => unreadable.fails(messageOf(Cause.squash(cause))))
  )
  const backlogNow = Effect.orElseSucceed(readBacklog, () => undefined)

  /** Reads the backlog again if that was asked for, until it works. */
  const rereading = Queue.take(rereads).pipe(
    Effect.zipRight(Effect.delay(Effect.retry(readBacklog, growingPauses), rereadAfter)),
    Effect.flatMap((backlog) => inputs.offer({ _tag: "Reread", backlog })),
    Effect.ignore,
    Effect.forever
  )

  /** What a stream begins with. The same bytes until the view changes. */
  const preamble = () => {
    if (encoded.view !== replay.view) {
      const frames = Replay.replayed(replay).map(({ data, name }) => SseFrame.event(name, data))
      encoded = { view: replay.view, bytes: Buffer.from(SseFrame.retry + frames.join("")) }
    }
    return encoded.bytes
  }

  const leave = (sink: FrameSink) => {
    if (fanOut.leave(sink)) {
      recorder.left()
      changed()
    }
  }

  const endStreams = () => {
    for (const [sink] of [...fanOut.clients()]) {
      leave(sink)
      sink.end()
    }
  }

  const advance = (input: Replay.Input): Replay.Output => {
    const { output, reread, state } = Replay.step(replay, input)
    replay = state
    if (reread) {
      rereads.unsafeOffer(undefined)
    }
    if (output._tag === "EndStreams") {
      endStreams()
    }
    return output
  }

  /** Gives clients what the backlog has and they have not. How many events that were. */
  const catchUp = (input: Replay.Input): Effect.Effect<number> =>
    Effect.suspend(() => {
      const output = advance(input)
      if (output._tag !== "Send") {
        return Effect.succeed(0)
      }
      const frames = output.events.map(({ data, name }) => SseFrame.event(name, data))
      return Effect.as(fanOut.send(frames.values()), frames.length)
    })

  /** The frames of events in their order, up to a gap. */
  const framesOf = function* (events: ReadonlyArray<BusEvent>): Generator<string, Gap | undefined> {
    for (const [index, event] of events.entries()) {
      const { name, sequence } = event
      const isForwarded = encoder.isForwarded(name)
      const isReplayed = encoder.isReplayed(name)
      // What is only live is encoded for nobody.
      const data = isForwarded && (isReplayed || fanOut.size() > 0) ? encoder.data(event) : undefined
      const output = advance({ _tag: "Event", name, sequence, data: isReplayed ? data : undefined })
      if (output._tag === "Gap") {
        return { missing: output.missing, next: sequence, events: events.slice(index) }
      }
      if (output._tag === "Forward" && isForwarded) {
        recorder.forwarded(1, name, clock.unsafeCurrentTimeMillis())
        if (data !== undefined && isReplayed) {
          remembering.remember({ name, data, sequence })
        }
        if (data !== undefined && fanOut.size() > 0) {
          yield SseFrame.event(name, data)
        }
      }
    }
    return undefined
  }

  const forward = (events: ReadonlyArray<BusEvent>): Effect.Effect<void> =>
    Effect.flatMap(fanOut.send(framesOf(events)), (gap) =>
      gap === undefined ? encoder.warn : Effect.zipRight(repair(gap), forward(gap.events))
    )

  /** Gives clients what the backlog has of the events that are missing. */
  const repair = ({ missing, next }: Gap) =>
    Effect.flatMap(backlogNow, (backlog) => catchUp({ _tag: "Repaired", next, backlog })).pipe(
      Effect.tap((found) => Effect.sync(() => recorder.missed((missing - found) * fanOut.size()))),
      Effect.zipRight(warnOfGap)
    )

  const handle = (input: Input): Effect.Effect<unknown> => {
    switch (input._tag) {
      case "Events":
        return forward(input.events)
      case "Ping":
        return fanOut.send([SseFrame.ping].values())
      case "Opened":
        return Effect.flatMap(backlogNow, (backlog) => catchUp({ _tag: "Opened", backlog })).pipe(
          Effect.zipRight(Deferred.succeed(input.done, undefined))
        )
      case "Lost":
        return Effect.zipRight(catchUp(input), remembering.forget)
      case "Reread":
        return catchUp(input)
    }
  }

  const merged = Mailbox.toStream(inputs)
  yield* Effect.forkScoped(Stream.runForEach(merged, handle))

  const pings = Stream.fromSchedule(Schedule.spaced(options.keepAliveMs))
  yield* Effect.forkScoped(Stream.runForEach(pings, () => inputs.offer({ _tag: "Ping" })))

  const { problem } = yield* keepSubscribed({
    name: "The HTTP transport",
    open: Effect.gen(function* () {
      const done = yield* Deferred.make<void>()
      yield* inputs.offer({ _tag: "Opened", done })
      yield* Deferred.await(done)
      yield* Effect.forkScoped(rereading)
      changed()
    }),
    take: (events) => inputs.offer({ _tag: "Events", events: Chunk.toReadonlyArray(events) }),
    lost: Effect.map(inputs.offer({ _tag: "Lost" }), changed)
  })

  const join = (sink: FrameSink, client: Client = {}) =>
    Effect.suspend(() => {
      if (!isClosed && fanOut.size() >= options.maxClients) {
        return new TooManyClients({ maxClients: options.maxClients })
      }
      sink.begin(preamble())
      if (isClosed) {
        sink.end()
      } else {
        fanOut.join(sink, { ...client, since: performance.now() })
        recorder.joined(fanOut.size())
        changed()
      }
      return Effect.void
    })

  const stream = (client?: Client) =>
    Effect.flatMap(makeStreamSink, (sink) =>
      Effect.acquireRelease(Effect.as(join(sink, client), sink.frames), () => Effect.sync(() => leave(sink)))
    )

  const eventStream: EventStream = {
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
    close: Effect.sync(() => {
      isClosed = true
      endStreams()
    })
  }
  return eventStream
})

/** Events that follow others which the bus has left out. */
interface Gap {
  readonly missing: number
  /** The sequence of the first of them. */
  readonly next: number
  readonly events: ReadonlyArray<BusEvent>
}
