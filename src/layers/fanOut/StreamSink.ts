/**
 * A client that reads its frames from an Effect `Stream`, for servers that do not give access to sockets.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Mailbox from "effect/Mailbox"
import * as Stream from "effect/Stream"
import { type FrameSink, QueueLimit } from "./FanOut.ts"

export interface StreamSink {
  readonly sink: FrameSink
  /** The preamble of the stream. */
  readonly backlog: Stream.Stream<Uint8Array>
  /** The frames sent to the sink; can be read once. */
  readonly live: Stream.Stream<Uint8Array>
  /** Counts frames as received by the client. Until then, they count as queued, wherever they are. */
  readonly received: (frames: Chunk.Chunk<Uint8Array>) => Chunk.Chunk<Uint8Array>
}

/**
 * At most `maxQueuedBytes` are queued. The preamble, and a frame at the head of an empty queue, may be larger. A client
 * that lags further behind is dropped: its stream ends after the queued frames.
 */
export const makeStreamSink: Effect.Effect<StreamSink> = Effect.map(Mailbox.make<Uint8Array>(), (waiting) => {
  const limit = new QueueLimit()
  let backlog: Uint8Array = new Uint8Array()
  let queued = 0
  const end = () => void waiting.unsafeDone(Exit.void)
  return {
    sink: {
      begin: (frames) => {
        limit.begin(frames)
        backlog = frames
        queued += frames.length
      },
      send: (frames) => {
        const isAdmitted = limit.admits(queued, frames)
        if (!isAdmitted) {
          end()
        }
        queued += isAdmitted ? frames.length : 0
        return isAdmitted && waiting.unsafeOffer(frames)
      },
      queuedBytes: () => queued,
      end
    },
    backlog: Stream.sync(() => backlog),
    live: Mailbox.toStream(waiting),
    received: (frames) => {
      // The client's own pings, a few bytes, were never counted as queued.
      queued = Math.max(0, queued - Chunk.reduce(frames, 0, (bytes, { length }) => bytes + length))
      return frames
    }
  }
})
