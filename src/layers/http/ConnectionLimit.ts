/**
 * How many connections a server has, and those that are too many. Every port and socket has a limit, with one rule.
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

/** How many connections a port serves. Where it has event streams, each of these may have one more. */
export const maxConnections = 1024

/** How many connections above the limit get an error response. Further ones are closed at once. */
export const surplus = 64

/**
 * How many connections above the limit are served for clients on the loopback interface: whoever fills a port from the network
 * does not keep out the screens and the monitor of this machine. A quarter, if the limit is low.
 */
export const loopbackPlaces = (limit: number): number => Math.min(64, Math.floor(limit / 4))

/** A Unix socket has no address, and no such places. */
const isLoopback = ({ remoteAddress = "" }: Socket): boolean => /^(::1$|(::ffff:)?127\.)/.test(remoteAddress)

export const make = (limit: number, advice = "Try again later."): ConnectionLimit => {
  const tooMany = new WeakSet<Socket>()
  const tooManyConnections = new TooManyConnections({
    message: `Too many connections: all ${limit} are in use. ${advice}`,
    headers: { Connection: "close", "Retry-After": "1" }
  })
  /** The last of each: they are handled one after the other. */
  const fibers = new WeakMap<Socket, Fiber.Fiber<unknown>>()
  const open = { served: 0, tooMany: 0 }

  /** As what a connection counts; `undefined` if it is to be closed. */
  const kindOf = (socket: Socket): keyof typeof open | undefined => {
    if (open.served < (isLoopback(socket) ? limit + loopbackPlaces(limit) : limit)) {
      return "served"
    }
    return open.tooMany < surplus ? "tooMany" : undefined
  }

  return {
    open: () => open.served + open.tooMany,
    refuse: (socket) => (tooMany.has(socket) ? Option.some(tooManyConnections) : Option.none()),
    began: (socket, fiber) => void fibers.set(socket, fiber),
    watch: (server) =>
      Effect.map(Effect.runtime(), (runtime) => {
        const fork = Runtime.runFork(runtime)
        server.on("connection", (socket) => {
          const kind = kindOf(socket)
          if (kind === undefined) {
            socket.destroy()
            return
          }
          open[kind] += 1
          if (kind === "tooMany") {
            tooMany.add(socket)
          }
          socket.once("close", () => {
            const asked = fibers.get(socket)
            const done = asked === undefined ? Effect.void : Fiber.await(asked)
            fork(
              Effect.andThen(Effect.timeoutOption(done, stallTimeout), () => {
                open[kind] -= 1
              })
            )
          })
        })
      })
  }
}
