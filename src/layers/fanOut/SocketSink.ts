/**
 * A connection as the sink of a client.
 */
import type { Socket } from "node:net"
import type { FrameSink } from "./FanOut.ts"
import { makeQueueLimit } from "./slowClients.ts"

/** All but the end, which is not the same with every protocol. */
export const makeSocketSink = (socket: Socket): Omit<FrameSink, "end"> => {
  const limit = makeQueueLimit()
  return {
    begin: (frames) => {
      limit.begin(frames)
      socket.write(frames)
    },
    send: (frames) => {
      const isAdmitted = limit.admits(socket.writableLength, frames)
      if (isAdmitted) {
        socket.write(frames)
      } else {
        socket.destroy()
      }
      return isAdmitted
    },
    queuedBytes: () => socket.writableLength
  }
}
