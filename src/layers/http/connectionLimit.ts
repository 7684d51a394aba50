/**
 * How many connections a server has, and those that are too many.
 */
import type { Server } from "node:http"
import type { Socket } from "node:net"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import { TooManyConnections } from "./errors.ts"
import { stallTimeout } from "./stallTimeout.ts"

export interface ConnectionLimit {
  /**
   * How many there are, those that are too many included. One whose client has left counts until what it has asked for is
   * done, half a minute at most.
   */
  readonly open: () => number
  /** Why a request on a connection is refused that is one of those that are too many. */
  readonly refuse: (socket: Socket) => Option.Option<TooManyConnections>
  /** The fiber of a request on a connection. */
  readonly began: (socket: Socket, fiber: Fiber.Fiber<unknown>) => void
  readonly watch: (server: Server) => Effect.Effect<void>
}

/** How many connections above the limit get an error response. Further ones are closed at once. */
export const surplus = 64

export const make = (limit: number, advice = "Try again later."): ConnectionLimit => {
  const tooMany = new WeakSet<Socket>()
  const tooManyConnections = new TooManyConnections({
    message: `Too many connections: all ${limit} are in use. ${advice}`,
    headers: { Connection: "close", "Retry-After": "1" }
  })
  /** The last of each: they are handled one after the other. */
  const fibers = new WeakMap<Socket, Fiber.Fiber<unknown>>()
  let open = 0
  return {
    open: () => open,
    refuse: (socket) => (tooMany.has(socket) ? Option.some(tooManyConnections) : Option.none()),
    began: (socket, fiber) => void fibers.set(socket, fiber),
    watch: (server) =>
      Effect.map(Effect.runtime(), (runtime) => {
        const fork = Runtime.runFork(runtime)
        server.maxConnections = limit + surplus
        server.on("connection", (socket) => {
          open += 1
          if (open > limit) {
            tooMany.add(socket)
          }
          socket.once("close", () => {
            const asked = fibers.get(socket)
            const done = asked === undefined ? Effect.void : Fiber.await(asked)
            fork(
              Effect.andThen(Effect.timeoutOption(done, stallTimeout), () => {
                open -= 1
              })
            )
          })
        })
      })
  }
}
