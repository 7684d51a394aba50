/**
 * An HTTP response as the sink of an event stream: the bounded end of a client (decisions, part B).
 *
 * It writes to Node's response itself. One fiber and one stream for each client was measured to collapse at a
 * thousand clients.
 */
import type { ServerResponse } from "node:http"
import * as Effect from "effect/Effect"
import type { FrameSink } from "./Outbox.ts"

/**
 * How much may wait for a client in this process, in bytes.
 *
 * A client that falls behind by more is disconnected. It reconnects after two seconds and is given the backlog;
 * what was only live in between it misses.
 */
export const maxQueuedBytes = 1024 * 1024

export const makeSink = (response: ServerResponse): FrameSink => {
  let limit = maxQueuedBytes
  return {
    send: (frames) => {
      if (!response.headersSent) {
        writeHead(response)
      }
      const queued = response.writableLength
      if (queued === 0) {
        // All clients share a frame that is larger than the limit: it takes its memory once, and does not count.
        limit = maxQueuedBytes + (frames.length > maxQueuedBytes ? frames.length : 0)
      }
      if (queued + frames.length > limit) {
        response.destroy()
        return false
      }
      response.write(frames)
      return true
    },
    end: () => {
      response.end()
    }
  }
}

/** Waits until the response has ended or its client is gone. */
export const closed = (response: ServerResponse): Effect.Effect<void> =>
  Effect.async((resume) => {
    if (response.closed) {
      resume(Effect.void)
    } else {
      response.once("close", () => resume(Effect.void))
    }
  })

/** Without `Transfer-Encoding` the body ends with the connection: one write for a frame instead of three. */
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
