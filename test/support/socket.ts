/**
 * Raw connections, over TCP or a Unix socket.
 */
import * as net from "node:net"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Received from "./Received.ts"

export interface OpenSocket {
  readonly socket: net.Socket
  readonly received: Received.Received
}

/** A connection that is closed with the scope. It ends its own side when the other end does. */
export const openSocket = (address: net.NetConnectOpts): Effect.Effect<OpenSocket, Error, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.async<net.Socket, Error>((resume) => {
      const socket = net.connect({ ...address, allowHalfOpen: true })
      socket.once("error", (error) => resume(Effect.fail(error)))
      socket.once("connect", () => resume(Effect.succeed(socket)))
    }),
    (socket) => Effect.sync(() => socket.destroy())
  ).pipe(
    Effect.map((socket) => {
      const received = Received.from(socket)
      // A reset ends it as well; what was received before tells the difference.
      socket.on("error", () => {})
      socket.on("end", () => socket.end())
      return { socket, received }
    })
  )
