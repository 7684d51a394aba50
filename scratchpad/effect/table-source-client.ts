/**
 * The client of the hosted table API: page by page, paced, with retries; here against the local table server.
 *
 *     npm run build && npx jiti scratchpad/effect/table-source-client.ts
 */
import { fileURLToPath } from "node:url"
import { NodeContext } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import * as Vitrine from "vitrine"

const directory = fileURLToPath(new URL("../exhibit/tables", import.meta.url))
const server = Vitrine.TableServer.layer({ directory, port: 0 })

const client = Layer.unwrapEffect(
  Effect.map(Vitrine.TableServer.TableServer, ({ address: { port } }) => {
    const endpointUrl = `http://127.0.0.1:${port}`
    return Vitrine.AirtableClient.layer({ baseId: "appExhibit", apiKey: "local", endpointUrl })
  })
)

const program = Effect.gen(function* () {
  const { listPage } = yield* Vitrine.TableSourceClient.TableSourceClient
  const { records } = yield* listPage({ table: "Settings", view: null })
  yield* Effect.forEach(records, ({ fields }) => Console.log(fields))
  yield* listPage({ table: "Nothing", view: null })
}).pipe(Effect.catchTag("vitrine/TableError", ({ reason }) => Console.log(reason)))

const platform = [Vitrine.RequestPacingMemory.layer, Vitrine.HttpClientNode.layer, NodeContext.layer] as const
const layers = client.pipe(Layer.provide(server), Layer.provide(platform))
await program.pipe(Effect.provide(layers), Effect.runPromise)
