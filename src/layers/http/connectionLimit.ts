/**
 * How many connections a server has, and those that are too many.
 */
import type { Server } from "node:http"
import type { Socket } from "node:net"
import * as Option from "effect/Option"
import { TooManyConnections } from "./errors.ts"

export interface ConnectionLimit {
  /** How many there are, those that are too many included. */
  readonly open: () => number
  /** Why a request on a connection is refused that is one of those that are too many. */
  readonly refuse: (socket: Socket) => Option.Option<TooManyConnections>
  readonly watch: (server: Server) => void
}

/** How many connections above the limit are accepted to be told so. Beyond them, connections are closed at once. */
export const surplus = 64

export const make = (limit: number, advice = "Try again later."): ConnectionLimit => {
  const tooMany = new WeakSet<Socket>()
  let open = 0
  return {
    open: () => open,
    refuse: (socket) =>
      tooMany.has(socket) ? Option.some(new TooManyConnections({ limit, advice })) : Option.none(),
    watch: (server) => {
      server.maxConnections = limit + surplus
      server.on("connection", (socket) => {
        open += 1
        if (open > limit) {
          tooMany.add(socket)
        }
        socket.once("close", () => {
          open -= 1
        })
      })
    }
  }
}
