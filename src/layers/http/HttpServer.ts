/**
 * A Node server whose every response is the application's own, in the order of the requests.
 */
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http"
import type { Socket } from "node:net"
import * as Effect from "effect/Effect"
import { handleClientErrors, type Refusal, type RefusalAnswer } from "./clientErrors.ts"
import * as RequestBody from "./RequestBody.ts"
import { allowHalfClosed } from "./stallTimeout.ts"

/**
 * Milliseconds for which a connection without a request is kept: longer than Node keeps one for its next request, and
 * than a replica waits from one poll to the next, 5 seconds both. The server must not be the first to close it.
 */
export const keepAliveTimeout = 15_000

/** Not bound yet. `refused` is the answer to what Node could not parse. */
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
    // Node's own answers would lack what every answer carries, and come before it is their turn.
    for (const event of ["checkContinue", "checkExpectation"]) {
      server.on(event, (request, response) => server.emit("request", request, response))
    }
    return allowHalfClosed(handleClientErrors(server, refused))
  })

/** How many requests may wait on a connection. A client that sends more, behind an event stream for example, is disconnected. */
export const maxWaiting = 16

/**
 * Handles each request when it is its turn to be answered; `onWait` is called for those that must wait.
 *
 * Node hands out a pipelined request before those in front of it on its connection are answered. Its response has no
 * socket until then and never learns that the client has gone: what was begun for it would never end.
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
