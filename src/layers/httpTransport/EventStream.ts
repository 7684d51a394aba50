/**
 * The event stream of the transport: what is live on the bus merged with a ping by a schedule, and in front of it, for each
 * client, the replay backlog.
 *
 * Both are offered to one mailbox, which is read by one fiber, so each event is encoded once and handed to all clients. The
 * backlog is read when a feed of the bus begins or has a gap, never when a client joins.
 */
import type * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Mailbox from "effect/Mailbox"
import type * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import type { BusEvent } from "../../services/EventBus.ts"
import { type FeedProblem, keepSubscribed } from "../fanOut/keepSubscribed.ts"
import * as SseFrame from "../http/SseFrame.ts"
import * as BacklogReader from "./BacklogReader.ts"
import * as Clients from "./Clients.ts"
import * as EventEncoder from "./EventEncoder.ts"
import type { HttpTransportOptions } from "./HttpTransportOptions.ts"
import * as Replay from "./Replay.ts"
import { makeRemembering } from "./remembering.ts"

/** A client is given `retry` and the backlog, then everything live. All streams end when the feed of the bus is lost. */
export interface EventStream
  extends Pick<Clients.Clients, "close" | "join" | "leave" | "statistics" | "stream" | "streams"> {
  /** Why no events come from the bus. None if they do. */
  readonly problem: Effect.Effect<Option.Option<FeedProblem>>
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

/**
 * An event stream that lives as long as the scope. It has subscribed, or tried to, when this Effect returns. `changed` is
 * called whenever a client has come or gone, or the feed has.
 */
export const make = Effect.fnUntraced(function* (options: Options, changed: () => void = () => {}) {
  const clock = yield* Effect.clock
  const encoder = EventEncoder.make(options)
  const backlog = yield* BacklogReader.make(encoder.isReplayed)
  const remembering = yield* makeRemembering
  const inputs = yield* Mailbox.make<Input>({ capacity, strategy: "suspend" })
  // Read by whoever joins, in the same synchronous step in which its sink becomes that of a client.
  let replay = Replay.initial
  let encoded = { view: replay.view, bytes: Buffer.from(SseFrame.retry) }

  /** What a stream begins with. The same bytes until the view changes. */
  const preamble = () => {
    if (encoded.view !== replay.view) {
      const frames = Replay.replayed(replay).map(({ data, name }) => SseFrame.event(name, data))
      encoded = { view: replay.view, bytes: Buffer.from(SseFrame.retry + frames.join("")) }
    }
    return encoded.bytes
  }

  const clients = Clients.make({ changed, maxClients: options.maxClients, preamble })
  const { recorder } = clients

  const warnOfGap = yield* Effect.once(
    Effect.logWarning(
      "The event bus has left out events: they came faster than they could be forwarded, or the bus has lost them. Of names that are replayed, clients are given the latest that the backlog has; the others they do not see."
    )
  )

  const advance = (input: Replay.Input): Replay.Output => {
    const { output, reread, state } = Replay.step(replay, input)
    replay = state
    if (reread) {
      backlog.readAgain()
    }
    if (output._tag === "EndStreams") {
      clients.endStreams()
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
      return Effect.as(clients.send(frames.values()), frames.length)
    })

  /** The frames of events in their order, up to a gap. */
  const framesOf = function* (events: ReadonlyArray<BusEvent>): Generator<string, Gap | undefined> {
    for (const [index, event] of events.entries()) {
      const { name, sequence } = event
      const isForwarded = encoder.isForwarded(name)
      const isReplayed = encoder.isReplayed(name)
      // What is only live is encoded for nobody.
      const data = isForwarded && (isReplayed || clients.size() > 0) ? encoder.data(event) : undefined
      const output = advance({ _tag: "Event", name, sequence, data: isReplayed ? data : undefined })
      if (output._tag === "Gap") {
        return { missing: output.missing, next: sequence, events: events.slice(index) }
      }
      if (output._tag === "Forward" && isForwarded) {
        recorder.forwarded(name, clock.unsafeCurrentTimeMillis())
        if (data !== undefined && isReplayed) {
          remembering.remember({ name, data, sequence })
        }
        if (data !== undefined && clients.size() > 0) {
          yield SseFrame.event(name, data)
        }
      }
    }
    return undefined
  }

  const forward = (events: ReadonlyArray<BusEvent>): Effect.Effect<void> =>
    Effect.flatMap(clients.send(framesOf(events)), (gap) =>
      gap === undefined ? encoder.warn : Effect.zipRight(repair(gap), forward(gap.events))
    )

  /** Gives clients what the backlog has of the events that are missing. */
  const repair = ({ missing, next }: Gap) =>
    Effect.flatMap(backlog.read, (events) => catchUp({ _tag: "Repaired", next, backlog: events })).pipe(
      Effect.tap((found) => Effect.sync(() => recorder.missed((missing - found) * clients.size()))),
      Effect.zipRight(warnOfGap)
    )

  const handle = (input: Input): Effect.Effect<unknown> => {
    switch (input._tag) {
      case "Events":
        return forward(input.events)
      case "Ping":
        return clients.send([SseFrame.ping].values())
      case "Opened":
        return Effect.flatMap(backlog.read, (events) => catchUp({ _tag: "Opened", backlog: events })).pipe(
          Effect.zipRight(Deferred.succeed(input.done, undefined))
        )
      case "Lost":
        return Effect.zipRight(catchUp(input), remembering.forget)
      case "Reread":
        return catchUp(input)
    }
  }

  /** Nobody would see that streams have stopped: they end, so that clients come back. */
  const goOn = (cause: Cause.Cause<never>) =>
    Effect.zipRight(
      Effect.logError("An event could not be forwarded", cause),
      Effect.sync(clients.endStreams)
    )

  const pings = Stream.fromSchedule(Schedule.spaced(options.keepAliveMs))
  yield* Effect.forkScoped(Stream.runForEach(pings, () => inputs.offer({ _tag: "Ping" })))

  const merged = Mailbox.toStream(inputs)
  yield* Effect.forkScoped(Stream.runForEach(merged, (input) => Effect.catchAllCause(handle(input), goOn)))

  const { problem } = yield* keepSubscribed({
    name: "The HTTP transport",
    open: Effect.gen(function* () {
      const done = yield* Deferred.make<void>()
      yield* inputs.offer({ _tag: "Opened", done })
      yield* Deferred.await(done)
      yield* Effect.forkScoped(backlog.rereads((events) => inputs.offer({ _tag: "Reread", backlog: events })))
      changed()
    }),
    take: (events) => inputs.offer({ _tag: "Events", events: Chunk.toReadonlyArray(events) }),
    lost: Effect.map(inputs.offer({ _tag: "Lost" }), changed)
  })

  const { close, join, leave, statistics, stream, streams } = clients
  const eventStream: EventStream = { close, join, leave, problem, statistics, stream, streams }
  return eventStream
})

/** Events that follow others which the bus has left out. */
interface Gap {
  readonly missing: number
  /** The sequence of the first of them. */
  readonly next: number
  readonly events: ReadonlyArray<BusEvent>
}
