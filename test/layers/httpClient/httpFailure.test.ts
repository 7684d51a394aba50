import type { AddressInfo, Socket } from "node:net"
import { createServer } from "node:net"
import * as HttpClient from "@effect/platform/HttpClient"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as httpClient from "../../../src/layers/httpClient/HttpClientNode.ts"
import { deepestMessage } from "../../../src/layers/httpClient/httpFailure.ts"
import { naming } from "../../../src/layers/httpClient/localAddress.ts"

/** The error of an https request to a server that handles the connection like this. */
const failureOf = (serve: (socket: Socket) => void) =>
  Effect.gen(function* () {
    const sockets = new Set<Socket>()
    const server = yield* Effect.acquireRelease(
      Effect.async<ReturnType<typeof createServer>>((resume) => {
        const server = createServer((socket) => {
          sockets.add(socket)
          serve(socket.on("error", () => {}))
        })
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.sync(() => {
          server.close()
          for (const socket of sockets) {
            socket.destroy()
          }
        })
    )
    const { port } = server.address() as AddressInfo
    const { cause } = yield* Effect.flip(HttpClient.get(`https://127.0.0.1:${port}/`))
    return deepestMessage(cause)
  }).pipe(naming("https://127.0.0.1"), Effect.scoped, Effect.provide(httpClient.layer))

it.scopedLive.each(["HTTP/1.1 400 Bad Request\r\n\r\n", "SSH-2.0-OpenSSH\r\n"])(
  "a port without TLS is reported as such: %j",
  (bytes) =>
    Effect.map(
      failureOf((socket) => socket.end(bytes)),
      (message) =>
        expect(message).toMatch(/^the server does not speak TLS at this port \([a-z ]+\)\. Should /)
    )
)

it.scopedLive("a failed handshake is reported in OpenSSL's words, without its source line", () =>
  Effect.map(
    failureOf((socket) => socket.once("data", () => socket.end(Buffer.from([0x15, 3, 3, 0, 2, 2, 40])))),
    (message) => expect(message).toMatch(/^the TLS handshake failed \([\w/ ]*handshake failure\)$/)
  )
)
