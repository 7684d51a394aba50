/**
 * The clients of an event stream: who has joined, what each begins with, and what is counted of them.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { TransportStatistics } from "../../services/HttpTransport.ts"
import type { TransportState } from "../../services/Slices.ts"
import { type FanOut, type FrameSink, makeFanOut } from "../fanOut/FanOut.ts"
import { makeStreamSink, type StreamSink } from "../fanOut/StreamSink.ts"
import { type TooManyClients, tooManyClients } from "../http/errors.ts"
import {
  type Client,
  consumersOf,
  type EndedStreams,
  groupsOf,
  type Member,
  noteEnd
} from "./shownClients.ts"
import { makeRecorder, type Recorder } from "./statistics.ts"

/** The clients of an event stream. */
export interface Clients {
  /** Makes the sink that of a client: it is given what a stream begins with, then all frames that are sent. */
  readonly join: (sink: FrameSink, client?: Client) => Effect.Effect<void, TooManyClients>
  /** From now on the sink is given nothing more, and its slot is free. Harmless for one that is no client. */
  readonly leave: (sink: FrameSink) => void
  /**
   * A client as a Stream of frames. It ends when all streams end, or when the client lags too far behind. It is a client
   * until the scope ends.
   */
  readonly stream: (client?: Client) => Effect.Effect<StreamSink["frames"], TooManyClients, Scope.Scope>
  readonly size: () => number
  /** Sends frames to all clients, as `FanOut` does. */
  readonly send: FanOut<Member>["send"]
  /** Ends all streams. */
  readonly endStreams: () => void
  /** Ends all streams; a sink that joins afterwards is ended at once. */
  readonly close: Effect.Effect<void>
  /** Counts what a transport does. */
  readonly recorder: Recorder
  readonly statistics: Effect.Effect<TransportStatistics>
  /** Who has the streams that are open now, and which consumers had some, as the state shows them. */
  readonly shown: Effect.Effect<Pick<TransportState, "consumers" | "largestOrigin" | "streams">>
  /** Emits when clients have come or gone. For one reader. */
  readonly changes: Stream.Stream<void>
}

export interface Options {
  readonly maxClients: number
  /** What a stream begins with now. */
  readonly preamble: () => Uint8Array
}

export const make = Effect.fnUntraced(function* ({ maxClients, preamble }: Options) {
  const changes = yield* Queue.sliding<void>(1)
  const clock = yield* Effect.clock
  const recorder = makeRecorder(() => clock.unsafeCurrentTimeMillis())
  const ended: EndedStreams = new Map()
  const fanOut = makeFanOut<Member>((client, missed) => {
    recorder.left(missed)
    noteEnd(ended, client)
    changes.unsafeOffer(undefined)
  })

  const join = (sink: FrameSink, client: Client = {}) =>
    Effect.suspend((): Effect.Effect<void, TooManyClients> => {
      if (fanOut.size() >= maxClients) {
        return tooManyClients(maxClients)
      }
      sink.begin(preamble())
      if (fanOut.join(sink, { ...client, since: performance.now() })) {
        recorder.joined()
        changes.unsafeOffer(undefined)
      }
      return Effect.void
    })

  const clients: Clients = {
    join,
    leave: fanOut.leave,
    stream: (client) =>
      Effect.flatMap(makeStreamSink, (sink) =>
        Effect.acquireRelease(Effect.as(join(sink, client), sink.frames), () =>
          Effect.sync(() => fanOut.leave(sink))
        )
      ),
    size: fanOut.size,
    send: fanOut.send,
    endStreams: fanOut.endAll,
    close: Effect.sync(fanOut.close),
    recorder,
    statistics: Effect.sync(recorder.statistics),
    shown: Effect.map(Clock.currentTimeMillis, (now) => {
      const start = now - performance.now()
      const isoTime = (millis: number) => new Date(start + millis).toISOString()
      const members = fanOut.clients()
      return { ...groupsOf(members, isoTime), consumers: consumersOf(members, ended, isoTime) }
    }),
    changes: Stream.fromQueue(changes)
  }
  return clients
})
