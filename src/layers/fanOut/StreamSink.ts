/**
 * A client whose frames are taken by an Effect `Stream`, for servers whose sockets are not at hand.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Mailbox from "effect/Mailbox"
import * as Stream from "effect/Stream"
import type { FrameSink } from "./FanOut.ts"
import { QueueLimit } from "./slowClients.ts"

export interface StreamSink extends FrameSink {
  /** What the sink takes, once. */
  readonly frames: Stream.Stream<Uint8Array>
}

/**
 * At most `maxQueuedBytes` wait to be taken; what the stream begins with, and a frame that nothing waits in front of,
 * may be larger. A client that lags further behind is given up: its stream ends after what waits already.
 */
export const makeStreamSink: Effect.Effect<StreamSink> = Effect.map(Mailbox.make<Uint8Array>(), (waiting) => {
  const limit = new QueueLimit()
  let backlog: Uint8Array = new Uint8Array()
  let queued = 0
  const offer = (frames: Uint8Array) => {
    queued += frames.length
    return waiting.unsafeOffer(frames)
  }
  const end = () => void waiting.unsafeDone(Exit.void)
  return {
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
      return isAdmitted && offer(frames)
    },
    queuedBytes: () => queued,
    end,
    frames: Stream.concat(
      Stream.sync(() => {
        queued -= backlog.length
        return backlog
      }),
      Stream.mapChunks(Mailbox.toStream(waiting), (taken) => {
        queued = 0
        return taken
      })
    )
  }
})
