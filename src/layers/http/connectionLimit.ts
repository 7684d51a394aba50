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
 * How many of the connections are for clients on the loopback interface only: whoever fills a port from the network does not
 * keep out the screens and the monitor of this machine. A quarter, where the limit is low.
 */
export const loopbackPlaces = (limit: number): number => Math.min(64, Math.floor(limit / 4))

/** A Unix socket has no address. */
const isLoopback = ({ remoteAddress }: Socket): boolean =>
  remoteAddress === undefined || /^(::1$|(::ffff:)?127\.)/.test(remoteAddress)

export const make = (limit: number, advice = "Try again later."): ConnectionLimit => {
  const tooMany = new WeakSet<Socket>()
  const tooManyConnections = new TooManyConnections({
    message: `Too many connections: all ${limit} are in use. ${advice}`,
    headers: { Connection: "close", "Retry-After": "1" }
  })
  /** The last of each: they are handled one after the other. */
  const fibers = new WeakMap<Socket, Fiber.Fiber<unknown>>()
  const open = { loopback: 0, network: 0, tooMany: 0 }

  /** As what a connection counts; `undefined` if it is to be closed. */
  const placeOf = (socket: Socket): keyof typeof open | undefined => {
    const isOfLoopback = isLoopback(socket)
    const hasPlace =
      open.loopback + open.network < limit && (isOfLoopback || open.network < limit - loopbackPlaces(limit))
    if (hasPlace) {
      return isOfLoopback ? "loopback" : "network"
    }
    return open.tooMany < surplus ? "tooMany" : undefined
  }

  return {
    open: () => open.loopback + open.network + open.tooMany,
    refuse: (socket) => (tooMany.has(socket) ? Option.some(tooManyConnections) : Option.none()),
    began: (socket, fiber) => void fibers.set(socket, fiber),
    watch: (server) =>
      Effect.map(Effect.runtime(), (runtime) => {
        const fork = Runtime.runFork(runtime)
        server.on("connection", (socket) => {
          const place = placeOf(socket)
          if (place === undefined) {
            socket.destroy()
            return
          }
          open[place] += 1
          if (place === "tooMany") {
            tooMany.add(socket)
          }
          socket.once("close", () => {
            const asked = fibers.get(socket)
            const done = asked === undefined ? Effect.void : Fiber.await(asked)
            fork(
              Effect.andThen(Effect.timeoutOption(done, stallTimeout), () => {
                open[place] -= 1
              })
            )
          })
        })
      })
  }
}
