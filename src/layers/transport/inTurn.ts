/**
 * Pipelined requests, one after the other.
 *
 * Node hands out a request before those in front of it on its connection are answered. Its response has no
 * socket until then and never learns that the client has gone: what was begun for it would never end.
 */
import type { IncomingMessage, RequestListener } from "node:http"
import type { Socket } from "node:net"

/** How many requests may wait on a connection. */
export const maxWaiting = 16

/**
 * Handles each request when it is its turn to be answered.
 *
 * A client is cut off that lets too many wait, behind an event stream for example, or one whose body is larger
 * than the connection's high water mark or of unknown length: the server would keep a part of it and then read
 * nothing more, nor learn that the client has gone.
 */
export const inTurn = (handler: RequestListener): RequestListener => {
  const waiting = new WeakMap<Socket, number>()
  const count = (socket: Socket, change: number) => {
    const now = (waiting.get(socket) ?? 0) + change
    waiting.set(socket, now)
    return now
  }
  return (request, response) => {
    if (response.socket !== null) {
      handler(request, response)
    } else if (count(request.socket, 1) > maxWaiting || !canBeKept(request)) {
      request.socket.destroy()
    } else {
      response.once("socket", (socket: Socket) => {
        count(socket, -1)
        if (!socket.destroyed) {
          handler(request, response)
        }
      })
    }
  }
}

const canBeKept = ({ headers, readableHighWaterMark }: IncomingMessage): boolean =>
  headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) < readableHighWaterMark
