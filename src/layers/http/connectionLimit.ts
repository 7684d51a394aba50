/**
 * How many connections a server has, and those that are too many.
 */
import type { Server } from "node:http"
import type { Socket } from "node:net"

export interface ConnectionLimit {
  /** How many there are, those that are too many included. */
  readonly open: () => number
  /** Whether a connection is one of those that are too many: a request on it is to be refused. */
  readonly exceededBy: (socket: Socket) => boolean
  readonly watch: (server: Server) => void
}

/** How many connections above the limit are accepted to be told so. Beyond them, connections are closed at once. */
export const surplus = 64

export const make = (maxConnections: number): ConnectionLimit => {
  const tooMany = new WeakSet<Socket>()
  let open = 0
  return {
    open: () => open,
    exceededBy: (socket) => tooMany.has(socket),
    watch: (server) => {
      server.maxConnections = maxConnections + surplus
      server.on("connection", (socket) => {
        open += 1
        if (open > maxConnections) {
          tooMany.add(socket)
        }
        socket.once("close", () => {
          open -= 1
        })
      })
    }
  }
}
