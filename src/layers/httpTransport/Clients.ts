/**
 * The clients of an event stream: who has joined, what each begins with, and what is counted of them.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { TransportStatistics } from "../../services/HttpTransport.ts"
import { type FanOut, type FrameSink, makeFanOut } from "../fanOut/FanOut.ts"
import { makeStreamSink } from "../fanOut/StreamSink.ts"
import { TooManyClients } from "../http/errors.ts"
import { type Audience, audienceOf, type Client, type Member } from "./Audience.ts"
import { makeRecorder, type Recorder } from "./statistics.ts"

export interface Clients {
  /** Makes the sink that of a client: it is given what a stream begins with, then all frames that are sent. */
  readonly join: (sink: FrameSink, client?: Client) => Effect.Effect<void, TooManyClients>

  /**
   * A client as a Stream of frames. It ends when all streams end, or when the client lags too far behind. It is a client
   * until the scope ends.
   */
  readonly stream: (client?: Client) => Effect.Effect<Stream.Stream<Uint8Array>, TooManyClients, Scope.Scope>

  /** From now on the sink is given nothing more, and its slot is free. Harmless for one that is no client. */
  readonly leave: (sink: FrameSink) => void

  readonly size: () => number
  readonly send: FanOut<Member>["send"]

  /** Ends all streams. */
  readonly endStreams: () => void

  /** Ends all streams; whoever joins afterwards is ended at once. */
  readonly close: Effect.Effect<void>

  readonly recorder: Recorder
  readonly statistics: Effect.Effect<TransportStatistics>

  /** Who has the streams that are open now. */
  readonly audience: Effect.Effect<Audience>
}

export interface Options {
  readonly maxClients: number
  /** What a stream begins with now. */
  readonly preamble: () => Uint8Array
  /** Called whenever a client has come or gone. */
  readonly changed: () => void
}

export const make = ({ changed, maxClients, preamble }: Options): Clients => {
  const recorder = makeRecorder()
  const fanOut = makeFanOut<Member>((frames) => {
    recorder.dropped(frames)
    changed()
  })

  const left = (clients: number) => {
    if (clients > 0) {
      recorder.left(clients)
      changed()
    }
  }

  const leave = (sink: FrameSink) => left(fanOut.leave(sink) ? 1 : 0)

  const join = (sink: FrameSink, client: Client = {}) =>
    Effect.suspend(() => {
      if (fanOut.size() >= maxClients) {
        return new TooManyClients({ maxClients })
      }
      sink.begin(preamble())
      if (fanOut.join(sink, { ...client, since: performance.now() })) {
        recorder.joined(fanOut.size())
        changed()
      }
      return Effect.void
    })

  return {
    join,
    stream: (client) =>
      Effect.flatMap(makeStreamSink, (sink) =>
        Effect.acquireRelease(Effect.as(join(sink, client), sink.frames), () =>
          Effect.sync(() => leave(sink))
        )
      ),
    leave,
    size: fanOut.size,
    send: fanOut.send,
    endStreams: () => left(fanOut.endAll()),
    close: Effect.sync(() => left(fanOut.close())),
    recorder,
    statistics: Effect.sync(() => recorder.statistics(fanOut.size())),
    audience: Effect.map(Clock.currentTimeMillis, (now) => audienceOf(fanOut.clients(), now))
  }
}
