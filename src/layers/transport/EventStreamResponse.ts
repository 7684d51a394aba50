/**
 * An event stream as the response to a request, and its connection as the sink of a client: the bounded end of
 * a client (decisions, part B).
 *
 * The body has no length and is not chunked: it is what follows on the connection until its end. So frames are
 * written to the socket itself, one write for each, and all clients share their bytes.
 */
import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"
import * as Effect from "effect/Effect"
import { corsHeader } from "./answers.ts"
import type { Hub, TooManyClients } from "./Hub.ts"
import type { FrameSink } from "./Outbox.ts"

/**
 * How much may wait for a client in this process, in bytes.
 *
 * A client that falls behind by more is disconnected. It reconnects after two seconds and is given the backlog;
 * what was only live in between it misses.
 */
export const maxQueuedBytes = 1024 * 1024

/**
 * Answers with the hub's event stream, for as long as the client stays.
 *
 * It is done when the stream has begun: a fiber that waited for the end of each was measured to need twice the memory.
 */
export const open = (response: ServerResponse, hub: Hub): Effect.Effect<void, TooManyClients> =>
  Effect.suspend(() => {
    const { req: request } = response
    // A body that nobody reads would keep the server from learning that the client has gone.
    request.resume()
    const sink = makeSink(request.socket, response)
    return Effect.map(hub.join(sink), () => {
      handOver(response)
      if (request.socket.destroyed) {
        hub.leave(sink)
      } else {
        response.once("close", () => hub.leave(sink))
      }
    })
  })

const makeSink = (socket: Socket, response: ServerResponse): FrameSink => {
  let limit = maxQueuedBytes
  return {
    begin: (frames) => {
      // All clients share the backlog, so it does not count. It leaves together with the head.
      limit = maxQueuedBytes + frames.length
      socket.cork()
      writeHead(response)
      socket.write(frames)
      process.nextTick(() => socket.uncork())
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
    queuedBytes: () => socket.writableLength,
    end: () => {
      response.end()
    }
  }
}

/**
 * The platform, and `sendAnswer`, leave a response alone whose end was written: they neither answer nor, when its
 * client goes, interrupt whoever answers.
 */
const handOver = (response: ServerResponse) =>
  Object.defineProperty(response, "writableEnded", { value: true })

/** Node adds no `Transfer-Encoding` where it was removed: the body ends with the connection. */
const writeHead = (response: ServerResponse) => {
  response.removeHeader("Transfer-Encoding")
  response.writeHead(200, {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
    ...corsHeader,
    Connection: "close"
  })
  response.flushHeaders()
}
