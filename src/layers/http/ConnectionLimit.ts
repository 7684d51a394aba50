/**
 * Limits the connections of a server. Every port and socket has a limit, with the same rule.
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
   * How many connections are open, including refused ones. If its client has left, a connection counts until its request is
   * done, for at most 30 seconds.
   */
  readonly open: () => number
  /** The error for a request on a connection above the limit; `None` for other connections. */
  readonly refuse: (socket: Socket) => Option.Option<TooManyConnections>
  /** Registers the fiber that handles a request on a connection. */
  readonly began: (socket: Socket, fiber: Fiber.Fiber<unknown>) => void
  readonly watch: (server: Server) => Effect.Effect<void>
}

/** How many connections a port serves. A port with event streams serves one more for each stream. */
export const maxConnections = 1024

/** How many connections above the limit get an error response. Further connections are closed at once. */
export const surplus = 64

/**
 * How many connections above the limit are served for clients on the loopback interface: 64, or a quarter of a low limit.
 * Clients on the network that fill the port then cannot block the screens and the monitor on this machine.
 */
export const loopbackPlaces = (limit: number): number => Math.min(64, Math.floor(limit / 4))

/** A Unix socket has no address, so its connections are not loopback. */
const isLoopback = ({ remoteAddress = "" }: Socket): boolean => /^(::1$|(::ffff:)?127\.)/.test(remoteAddress)

export const make = (limit: number, advice = "Try again later."): ConnectionLimit => {
  const tooMany = new WeakSet<Socket>()
  const tooManyConnections = new TooManyConnections({
    message: `Too many connections: all ${limit} are in use. ${advice}`,
    headers: { Connection: "close", "Retry-After": "1" }
  })
  /** The latest fiber of each connection: its requests are handled one after the other. */
  const fibers = new WeakMap<Socket, Fiber.Fiber<unknown>>()
  const open = { served: 0, tooMany: 0 }

  /** How to count a connection; `undefined` to close it. */
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
