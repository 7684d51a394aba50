/**
 * A Node server that sends only responses of the application, in the order of the requests.
 */
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http"
import type { Socket } from "node:net"
import * as Effect from "effect/Effect"
import { handleClientErrors, type Refusal, type RefusalAnswer } from "./clientErrors.ts"
import * as RequestBody from "./RequestBody.ts"
import { allowHalfClosed } from "./stallTimeout.ts"

/**
 * Milliseconds that an idle connection is kept. Longer than a client in Node keeps it, and than a replica waits between
 * polls (5 seconds each): if the server closed it first, a request that was just sent would fail.
 */
export const keepAliveTimeout = 15_000

/** A server that is not bound yet. `refused` makes the answer to requests that Node cannot parse. */
export const make = (
  handler: RequestListener,
  refused: (refusal: Refusal) => RefusalAnswer
): Effect.Effect<Server> =>
  Effect.suspend(() => {
    const server = createServer(
      {
        headersTimeout: 10_000,
        requestTimeout: 30_000,
        keepAliveTimeout,
        connectionsCheckingInterval: 2000,
        requireHostHeader: false
      },
      serialized(handler, RequestBody.begin)
    )
    // Node's own answers would lack our headers, and would overtake earlier responses.
    for (const event of ["checkContinue", "checkExpectation"]) {
      server.on(event, (request, response) => server.emit("request", request, response))
    }
    return allowHalfClosed(handleClientErrors(server, refused))
  })

/** How many requests may wait on a connection, for example behind an event stream. A client that sends more is disconnected. */
export const maxWaiting = 16

/**
 * Handles a request when the earlier requests on its connection are answered; calls `onWait` for a request that must wait.
 *
 * Node emits a pipelined request before the earlier requests on its connection are answered. Its response has no socket
 * until then and never learns that the client has gone: its work would never end.
 */
export const serialized = (
  handler: RequestListener,
  onWait: (request: IncomingMessage) => void
): RequestListener => {
  const waiting = new WeakMap<Socket, number>()
  const count = (socket: Socket, change: number) => {
    const now = (waiting.get(socket) ?? 0) + change
    waiting.set(socket, now)
    return now
  }
  return (request, response) => {
    if (response.socket !== null) {
      handler(request, response)
    } else if (count(request.socket, 1) > maxWaiting) {
      request.socket.destroy()
    } else {
      onWait(request)
      response.once("socket", (socket: Socket) => {
        count(socket, -1)
        if (!socket.destroyed) {
          handler(request, response)
        }
      })
    }
  }
}
