/**
 * Something else than a controller of this version, at the socket of one.
 */
import { createServer, type Socket } from "node:net"
import { createInterface } from "node:readline"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"

/** Gives the `result` or the `error` for a method. */
export type Respond = (method: string) => object

/** Listens at the socket of the configuration in the folder until the scope ends. */
export const listenIn = (folder: string, respond: Respond) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    yield* fs.makeDirectory(`${folder}/.vitrine`, { mode: 0o700 })
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket.on("error", () => {}))
      createInterface({ input: socket }).on("line", (line) => {
        const { id, method } = JSON.parse(line)
        socket.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...respond(method) })}\n`)
      })
    })
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => {
        server.listen(`${folder}/.vitrine/controller.sock`, () => resume(Effect.void))
      }),
      () =>
        Effect.sync(() => {
          server.close()
          for (const socket of sockets) socket.destroy()
        })
    )
  })
