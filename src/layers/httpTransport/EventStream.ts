/**
 * The event stream of the transport: what is live on the bus merged with a ping by a schedule, and in front of it, for each
 * client, the replay backlog.
 *
 * The merged Stream is read by one fiber, so each event is encoded once and handed to all clients. The backlog is read when a
 * feed of the bus begins or has a gap, and once more where it may have more soon; never when a client joins.
 */
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import type { BusEvent } from "../../services/EventBus.ts"
import type { BusProblem } from "../../services/Slices.ts"
import * as Subscription from "../fanOut/Subscription.ts"
import * as Backlog from "./Backlog.ts"
import * as Clients from "./Clients.ts"
import * as EventEncoder from "./EventEncoder.ts"
import { type Input, makeForwarding } from "./forwarding.ts"
import type { HttpTransportOptions } from "./HttpTransportOptions.ts"

/** A client is given `retry` and the backlog, then everything live. All streams end when the feed of the bus is lost. */
export interface EventStream
  extends Pick<Clients.Clients, "close" | "join" | "leave" | "shown" | "statistics" | "stream"> {
  /** Why no events come from the bus. None if they do. */
  readonly problem: Effect.Effect<Option.Option<BusProblem>>
  /** Emits when a client has come or gone, or a feed has. */
  readonly changes: Stream.Stream<unknown>
}

export type Options = Pick<HttpTransportOptions, "events" | "keepAliveMs" | "maxClients" | "replayEvents">

const pingInput: Input = { _tag: "Ping" }

/** An event stream that lives as long as the scope. It has subscribed, or tried to, when this Effect returns. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const encoder = yield* EventEncoder.make(options)
  const backlog = yield* Backlog.make(encoder.isReplayed)
  const clients = yield* Clients.make({ maxClients: options.maxClients, preamble: backlog.preamble })
  const { begin, end, forward } = yield* makeForwarding({ backlog, clients, encoder })

  const { feeds, problem } = yield* Subscription.make("The HTTP transport")

  const pings = Stream.as(Stream.fromSchedule(Schedule.spaced(options.keepAliveMs)), pingInput)
  const rereads = Stream.map(backlog.rereads, (events): Input => ({ _tag: "Reread", backlog: events }))

  /** What clients are sent until the live events end. `Stream.merge`, which halts with one side, costs a third more for a lone event. */
  const merged = (live: Stream.Stream<BusEvent>): Stream.Stream<Input> => {
    const events = Stream.map(Stream.chunks(live), (chunk): Input => ({ _tag: "Events", events: [...chunk] }))
    return Stream.mergeAll([Stream.concat(events, Stream.fail("over")), pings, rereads], {
      concurrency: "unbounded",
      bufferSize: 4
    }).pipe(Stream.catchAll(() => Stream.empty))
  }

  /** With what the backlog has in front; its end ends the streams of all clients. */
  const behindBacklog = (live: Stream.Stream<BusEvent>): Stream.Stream<Input> =>
    Stream.unwrapScoped(Effect.addFinalizer(() => end).pipe(Effect.zipRight(begin), Effect.as(merged(live))))

  yield* feeds.pipe(
    Stream.flatMap(({ events, isOpen }) => (isOpen ? behindBacklog(events) : merged(events))),
    Stream.runForEach(forward),
    Effect.forkScoped
  )

  const eventStream: EventStream = {
    ...clients,
    changes: Stream.merge(clients.changes, Stream.drop(problem.changes, 1)),
    problem
  }
  return eventStream
})
