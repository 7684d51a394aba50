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
    const { socket } = response
    if (socket === null) {
      return Effect.void
    }
    // A body that nobody reads would keep the server from learning that the client has gone.
    response.req.resume()
    const sink = makeSink(socket, response)
    return Effect.map(hub.join(sink), () => {
      handOver(response)
      if (socket.destroyed) {
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
      writeHead(response)
      response.write(frames)
    },
    send: (frames) => {
      const queued = socket.writableLength
      if (queued === 0) {
        // All clients share a frame that is larger than the limit: it takes its memory once, and does not count.
        limit = maxQueuedBytes + (frames.length > maxQueuedBytes ? frames.length : 0)
      }
      if (queued + frames.length > limit) {
        socket.destroy()
        return false
      }
      socket.write(frames)
      return true
    },
    end: () => {
      response.end()
    }
  }
}

/** To the HTTP application the response is over: it leaves it alone. */
const handOver = (response: ServerResponse) =>
  Object.defineProperty(response, "writableEnded", { value: true })

const writeHead = (response: ServerResponse) => {
  response.removeHeader("Transfer-Encoding")
  response.writeHead(200, {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
    "Access-Control-Allow-Origin": "*",
    Connection: "close"
  })
}
