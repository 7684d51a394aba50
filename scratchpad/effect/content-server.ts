/**
 * A folder of versions and a page over HTTP, without a controller.
 *
 *     npm run build && npx jiti scratchpad/effect/content-server.ts
 */
import { fileURLToPath } from "node:url"
import { NodeContext } from "@effect/platform-node"
import { Console, Effect, Layer, Option } from "effect"
import * as Vitrine from "vitrine"

const { ContentServer } = Vitrine.ContentServer
const site = fileURLToPath(new URL("../exhibit/page", import.meta.url))
const layers = Vitrine.ContentServer.layer({ port: 0, downloadPath: "downloads", site }).pipe(
  Layer.provide([
    Vitrine.CommandBusMemory.layer,
    Vitrine.ControllerStateMemory.layer("persistent"),
    Vitrine.EventBusMemory.layer
  ]),
  Layer.provide(NodeContext.layer)
)

const program = Effect.gen(function* () {
  const { port } = Option.getOrThrow((yield* ContentServer).address)
  const headers = { range: "bytes=0-14" }
  const page = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/`, { headers }))
  yield* Console.log(page.status, yield* Effect.promise(() => page.text()))
  const other = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/versions/none`))
  yield* Console.log(other.status, yield* Effect.promise(() => other.text()))
})
await program.pipe(Effect.provide(layers), Effect.runPromise)
