/**
 * The event stream of the transport: what is live on the bus merged with a ping by a schedule, and in front of it, for each
 * client, the replay backlog.
 *
 * Both are offered to one mailbox, which is read by one fiber, so each event is encoded once and handed to all clients. The
 * backlog is read when a feed of the bus begins or has a gap, never when a client joins.
 */
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Mailbox from "effect/Mailbox"
import type * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { type FeedProblem, keepSubscribed } from "../fanOut/keepSubscribed.ts"
import type { Clients } from "./Clients.ts"
import { type ForwardingOptions, type Input, makeForwarding } from "./forwarding.ts"
import type { HttpTransportOptions } from "./HttpTransportOptions.ts"

/** A client is given `retry` and the backlog, then everything live. All streams end when the feed of the bus is lost. */
export interface EventStream
  extends Pick<Clients, "audience" | "close" | "join" | "leave" | "statistics" | "stream"> {
  /** Why no events come from the bus. None if they do. */
  readonly problem: Effect.Effect<Option.Option<FeedProblem>>
}

export interface Options extends ForwardingOptions, Pick<HttpTransportOptions, "keepAliveMs"> {}

/** How many inputs wait; of more, the offer waits, and the bus drops events. */
const capacity = 4

/**
 * An event stream that lives as long as the scope. It has subscribed, or tried to, when this Effect returns. `changed` is
 * called whenever a client has come or gone, or the feed has.
 */
export const make = Effect.fnUntraced(function* (options: Options, changed: () => void = () => {}) {
  const { backlog, clients, forward } = yield* makeForwarding(options, changed)
  const inputs = yield* Mailbox.make<Input>({ capacity, strategy: "suspend" })
  const merged = Mailbox.toStream(inputs)
  yield* Effect.forkScoped(Stream.runForEach(merged, forward))

  const pings = Stream.fromSchedule(Schedule.spaced(options.keepAliveMs))
  yield* Effect.forkScoped(Stream.runForEach(pings, () => inputs.offer({ _tag: "Ping" })))

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

  const { audience, close, join, leave, statistics, stream } = clients
  const eventStream: EventStream = { audience, close, join, leave, problem, statistics, stream }
  return eventStream
})
