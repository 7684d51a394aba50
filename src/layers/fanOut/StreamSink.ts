/**
 * A client whose frames are taken by an Effect `Stream`, for servers whose sockets are not at hand.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Mailbox from "effect/Mailbox"
import * as Stream from "effect/Stream"
import { type FrameSink, QueueLimit } from "./FanOut.ts"

export interface StreamSink {
  readonly sink: FrameSink
  /** What the stream begins with. */
  readonly backlog: Stream.Stream<Uint8Array>
  /** The frames that the sink is sent, once. */
  readonly live: Stream.Stream<Uint8Array>
  /** Counts frames as taken by the client: until then they are queued, wherever they wait. */
  readonly taken: (frames: Chunk.Chunk<Uint8Array>) => Chunk.Chunk<Uint8Array>
}

/**
 * At most `maxQueuedBytes` wait to be taken; what the stream begins with, and a frame that nothing waits in front of,
 * may be larger. A client that lags further behind is dropped: its stream ends after the frames that wait already.
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
    taken: (frames) => {
      // Pings of the client's own, a few bytes, were not counted.
      queued = Math.max(0, queued - Chunk.reduce(frames, 0, (bytes, { length }) => bytes + length))
      return frames
    }
  }
})
