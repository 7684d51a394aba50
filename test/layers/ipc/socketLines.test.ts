import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readLines } from "../../../src/layers/ipc/socketLines.ts"

/** Both ends of a connection that can be reset, unlike a Unix socket. */
const connection = Effect.gen(function* () {
  const server = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer({ allowHalfOpen: true }).listen(0, "127.0.0.1")
      await once(server, "listening")
      return server
    }),
    (server) => Effect.sync(() => server.close())
  )
  const { port } = server.address() as AddressInfo
  const peer = yield* Effect.acquireRelease(
    Effect.sync(() => connect(port, "127.0.0.1")),
    (peer) => Effect.sync(() => peer.destroy())
  )
  const [socket]: Array<Socket> = yield* Effect.promise(() => once(server, "connection"))
  return { peer, socket: yield* Effect.fromNullable(socket) }
})

/** All lines of a peer that sends one and a half, and what it does then. */
const linesOf = (endsLastLine: boolean, leave: (peer: Socket) => void) =>
  Effect.gen(function* () {
    const { peer, socket } = yield* connection
    const { more, next } = readLines(socket, { endsLastLine, maxBytes: 100 })
    const lines: Array<string> = []
    peer.write("one\nhalf")
    while (yield* more) {
      for (let line = next(); line !== undefined; line = next()) {
        lines.push(Buffer.from(line).toString())
        leave(peer)
      }
    }
    socket.destroy()
    return lines
  }).pipe(Effect.scoped)

it.effect("takes the peer's end for the end of the last line where asked to, a broken connection never", () =>
  Effect.gen(function* () {
    const end = (peer: Socket) => void peer.end()
    const reset = (peer: Socket) => void peer.resetAndDestroy()
    expect(yield* linesOf(true, end)).toEqual(["one", "half"])
    expect(yield* linesOf(true, reset)).toEqual(["one"])
    expect(yield* linesOf(false, end)).toEqual(["one"])
  })
)
