/**
 * Connections by the hundred, of which nothing is kept: a fiber and a buffer for each would cost more than they do.
 */
import * as net from "node:net"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** So many connections, on each of which the same is sent. What is left of them is closed with the scope. */
export const connect = (
  port: number,
  count: number,
  data: string | Uint8Array
): Effect.Effect<ReadonlyArray<net.Socket>, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => Array.from({ length: count }, () => open(port, data))),
    (sockets) =>
      Effect.sync(() => {
        for (const socket of sockets) {
          socket.destroy()
        }
      })
  )

const open = (port: number, data: string | Uint8Array) => {
  const socket = net.connect({ host: "127.0.0.1", port, allowHalfOpen: true })
  socket
    .on("error", () => {})
    .on("end", () => socket.end())
    .resume()
  socket.write(data)
  return socket
}
