/**
 * A connection as the sink of a client: the bounded end of a client (decisions, part B).
 */
import type { Socket } from "node:net"
import type { FrameSink } from "./FanOut.ts"

/**
 * How much may wait for a client in this process, in bytes. A client that falls behind by more is disconnected.
 */
export const maxQueuedBytes = 1024 * 1024

/** All but the end, which is not the same with every protocol. */
export const makeSocketSink = (socket: Socket): Omit<FrameSink, "end"> => {
  let limit = maxQueuedBytes
  return {
    begin: (frames) => {
      // All clients share what a stream begins with, so it does not count.
      limit = maxQueuedBytes + frames.length
      socket.write(frames)
    },
    send: (frames) => {
      const queued = socket.writableLength
      if (queued === 0) {
        // So they do a frame that is larger than the limit.
        limit = maxQueuedBytes + (frames.length > maxQueuedBytes ? frames.length : 0)
      }
      if (queued + frames.length > limit) {
        socket.destroy()
        return false
      }
      socket.write(frames)
      return true
    },
    queuedBytes: () => socket.writableLength
  }
}
