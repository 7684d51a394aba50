/**
 * A plugin of the exhibit's own: serves the kiosk page, and the downloads folder to it under `/content`.
 */
import { createServer } from "node:http"
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
    HttpRouter.add("GET", "/content/*", files(downloads, "/content")),
    HttpRouter.add("GET", "/*", files(page, ""))
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

/** The files of a folder, the index for the folder itself, and nothing outside of it. */
const files = (folder: string, prefix: string) =>
  HttpRouter.params.pipe(
    Effect.flatMap(({ "*": name }) =>
      Effect.gen(function* () {
        const path = yield* Path.Path
        const file = path.join(
          folder,
          path.join("/", name === undefined || name === "" ? "index.html" : name)
        )
        return yield* HttpServerResponse.file(file, { headers: { "cache-control": "no-cache" } })
      })
    ),
    Effect.orElseSucceed(() =>
      HttpServerResponse.text(`There is no such file in ${prefix}/`, { status: 404 })
    )
  )
