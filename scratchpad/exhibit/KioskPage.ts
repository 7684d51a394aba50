/**
 * A plugin of the exhibit's own: serves the kiosk page, and the downloads folder to it under `/content`.
 */
import { createServer } from "node:http"
import * as FileSystem from "@effect/platform/FileSystem"
import * as HttpRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServer from "@effect/platform/HttpServer"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Path from "@effect/platform/Path"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ControllerState, Plugin } from "vitrine"

export interface Options {
  readonly port: number
  /** The folder of the page's files. */
  readonly page: string
  /** The downloads folder of the content plugin. */
  readonly downloads: string
}

export const plugin = ({ downloads, page, port }: Options): Plugin.Plugin => {
  const routes = Layer.mergeAll(
    HttpRouter.add("GET", "/endpoint.json", endpoint),
    HttpRouter.add("GET", "/content/*", files(downloads, sandboxed)),
    HttpRouter.add("GET", "/*", files(page, plain))
  )
  const announcement = Layer.effectDiscard(
    HttpServer.addressFormattedWith((url) => Effect.logInfo(`The kiosk page is at ${url}`))
  )
  const server = NodeHttpServer.layer(createServer, { host: "127.0.0.1", port })
  return Plugin.fromLayer(
    "kiosk-page",
    Layer.merge(HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }), announcement).pipe(
      Layer.provide(server)
    )
  )
}

/** Tells the page where the transport listens: that is in the controller's state. */
const endpoint = Effect.gen(function* () {
  const { plugins } = yield* Effect.flatMap(ControllerState, ({ state }) => state)
  const transport = plugins["http-transport"]
  return yield* HttpServerResponse.json({ transport: Object(transport).url })
})

/** An attachment is shown, and never run: not under another type than its name says, and no script inside an SVG. */
const plain = { "cache-control": "no-cache", "x-content-type-options": "nosniff" }
const sandboxed = { ...plain, "content-security-policy": "sandbox" }

/** The files of a folder, the index for the folder itself, and nothing that dot segments or links lead to outside. */
const files = (folder: string, headers: Readonly<Record<string, string>>) =>
  HttpRouter.params.pipe(
    Effect.flatMap(({ "*": name }) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        const root = yield* fs.realPath(folder)
        const file = yield* fs.realPath(path.join(root, name || "index.html"))
        const { type } = yield* fs.stat(file)
        if (type !== "File" || !file.startsWith(root + path.sep)) {
          return yield* Effect.fail("not a file of the folder")
        }
        return yield* HttpServerResponse.file(file, { headers })
      })
    ),
    Effect.orElseSucceed(() => HttpServerResponse.text("There is no such file", { status: 404 }))
  )
