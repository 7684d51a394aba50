import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { TransportStatistics } from "../../services/HttpTransport.ts"
import { type FrameSink, makeFanOut } from "../fanOut/FanOut.ts"
import { type FeedProblem, keepSubscribed } from "../fanOut/keepSubscribed.ts"
import { makeStreamSink } from "../fanOut/StreamSink.ts"
import { type Client, groupsOf, type Member, type StreamGroup } from "./Audience.ts"
import { makeForwarding } from "./forwarding.ts"
import type { HttpTransportOptions } from "./HttpTransportOptions.ts"
import * as SseFrame from "./SseFrame.ts"
import { makeRecorder } from "./statistics.ts"

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

export type Options = Pick<HttpTransportOptions, "events" | "keepAliveMs" | "maxClients" | "replayEvents">

/**
 * A hub that lives as long as the scope. It has subscribed, or tried to, when this Effect returns. `changed` is called
 * whenever a client has come or gone, or the feed has.
 */
export const make = Effect.fnUntraced(function* (options: Options, changed: () => void = () => {}) {
  const clock = yield* Effect.clock
  const fork = Runtime.runFork(yield* Effect.runtime())
  const warnOfFlood = Effect.logWarning(
    "Events are published faster than they can be sent: the oldest are dropped, and clients do not see them."
  )
  let hasFlooded = false
  const recorder = makeRecorder()
  const fanOut = makeFanOut<FrameSink, Member>({
    dropped: (frames) => {
      recorder.dropped(frames)
      changed()
    },
    missed: (clients) => {
      recorder.missed(clients)
      // In a flood, each frame that is dropped comes here.
      if (!hasFlooded) {
        hasFlooded = true
        fork(warnOfFlood)
      }
    }
  })
  let isClosed = false

  const leave = (sink: FrameSink) => {
    if (fanOut.leave(sink)) {
      recorder.left()
      changed()
    }
  }

  const endStreams = Effect.sync(() => {
    for (const [sink] of [...fanOut.clients()]) {
      leave(sink)
      sink.end()
    }
  })

  const { preamble, ...forwarding } = yield* makeForwarding({ clock, endStreams, fanOut, options, recorder })

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
    open: Effect.all([forwarding.open, Effect.forkScoped(pings), Effect.sync(changed)], { discard: true }),
    take: forwarding.take,
    lost: Effect.all([endStreams, forwarding.lost, Effect.sync(changed)], { discard: true }),
    meanwhile: pings
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
