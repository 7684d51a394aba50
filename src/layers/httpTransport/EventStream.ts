/**
 * The event stream of the transport: what is live on the bus merged with a ping by a schedule, and in front of it, for each
 * client, the replay backlog.
 *
 * The merged Stream is read by one fiber, so each event is encoded once and handed to all clients. The backlog is read when a
 * feed of the bus begins or has a gap, and once more where it may have more soon; never when a client joins.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import type { BusProblem } from "../../services/Slices.ts"
import { type Feed, keepSubscribed } from "../fanOut/keepSubscribed.ts"
import * as Backlog from "./Backlog.ts"
import * as Clients from "./Clients.ts"
import * as EventEncoder from "./EventEncoder.ts"
import { type Input, makeForwarding } from "./forwarding.ts"
import type { HttpTransportOptions } from "./HttpTransportOptions.ts"

/** A client is given `retry` and the backlog, then everything live. All streams end when the feed of the bus is lost. */
export interface EventStream
  extends Pick<Clients.Clients, "audience" | "close" | "join" | "leave" | "statistics" | "stream"> {
  /** Why no events come from the bus. None if they do. */
  readonly problem: Effect.Effect<Option.Option<BusProblem>>
  /** Emits when a client has come or gone, or a feed has. */
  readonly changes: Stream.Stream<unknown>
}

export type Options = Pick<HttpTransportOptions, "events" | "keepAliveMs" | "maxClients" | "replayEvents">

/** An event stream that lives as long as the scope. It has subscribed, or tried to, when this Effect returns. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const encoder = EventEncoder.make(options)
  const backlog = yield* Backlog.make(encoder.isReplayed)
  const clients = yield* Clients.make({ maxClients: options.maxClients, preamble: backlog.preamble })
  const { begin, end, forward } = yield* makeForwarding({ backlog, clients, encoder })

  const pings = Stream.fromSchedule(Schedule.spaced(options.keepAliveMs))

  /** What clients are sent behind the backlog. */
  const merged = (live: Feed) =>
    Stream.mergeAll(
      [
        Stream.map(
          Stream.chunks(live),
          (events): Input => ({ _tag: "Events", events: Chunk.toReadonlyArray(events) })
        ),
        Stream.map(backlog.rereads, (events): Input => ({ _tag: "Reread", backlog: events })),
        Stream.as(pings, { _tag: "Ping" } as const)
      ],
      { concurrency: "unbounded", bufferSize: 4 }
    )

  const { problem } = yield* keepSubscribed({
    name: "The HTTP transport",
    open: begin,
    read: (feed) => Stream.runForEach(merged(feed), forward),
    lost: end
  })

  const { audience, changes, close, join, leave, statistics, stream } = clients
  const eventStream: EventStream = {
    audience,
    changes: Stream.merge(changes, Stream.drop(problem.changes, 1)),
    close,
    join,
    leave,
    problem,
    statistics,
    stream
  }
  return eventStream
})
