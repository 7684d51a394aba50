/**
 * Something else than a controller of this version, at the socket of one.
 */
import { createServer } from "node:http"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"

/** The status and the body of the answer to a path. */
export type Respond = (path: string) => readonly [status: number, body: unknown]

/** Listens at the socket of the configuration in the folder until the scope ends. */
export const listenIn = (folder: string, respond: Respond) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    yield* fs.makeDirectory(`${folder}/.vitrine`, { mode: 0o700 })
    const server = createServer(({ url = "" }, response) => {
      const [status, body] = respond(url)
      response.writeHead(status).end(JSON.stringify(body))
    })
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => {
        server.listen(`${folder}/.vitrine/controller.sock`, () => resume(Effect.void))
      }),
      () =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
    )
  })
