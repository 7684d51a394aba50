/**
 * Pipelined requests, one after the other.
 *
 * Node hands out a request before those in front of it on its connection are answered. Its response has no
 * socket until then and never learns that the client has gone: what was begun for it would never end.
 */
import type { IncomingMessage, RequestListener } from "node:http"
import type { Socket } from "node:net"

/** How many requests may wait on a connection. Whoever sends more, behind an event stream for example, is cut off. */
export const maxWaiting = 16

/** Handles each request when it is its turn to be answered; those that must wait are told to `onWait`. */
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
