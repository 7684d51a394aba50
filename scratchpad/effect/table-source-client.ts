/**
 * The client of the hosted table API: page by page, paced, with retries; here against a server with one table.
 *
 *     npm run build && npx jiti scratchpad/effect/table-source-client.ts
 */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Console, Effect, Layer } from "effect"
import * as Vitrine from "vitrine"

const settings = { records: [{ id: "rec1", fields: { key: "museum", value: "Velmouth" } }] }
const server = createServer(({ url }, response) => {
  const isSettings = url?.startsWith("/v0/appExhibit/Settings")
  response.writeHead(isSettings ? 200 : 404).end(JSON.stringify(isSettings ? settings : {}))
})
await once(server.listen(0, "127.0.0.1"), "listening")
const endpointUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const program = Effect.gen(function* () {
  const { listPage } = yield* Vitrine.TableSourceClient.TableSourceClient
  const { records } = yield* listPage({ table: "Settings", view: null })
  yield* Effect.forEach(records, ({ fields }) => Console.log(fields))
  yield* listPage({ table: "Nothing", view: null })
}).pipe(Effect.catchTag("vitrine/TableError", ({ reason }) => Console.log(reason)))

const client = Vitrine.AirtableClient.layer({ baseId: "appExhibit", apiKey: "local", endpointUrl })
const layers = Layer.provide(client, [Vitrine.RequestPacingMemory.layer, Vitrine.HttpClientNode.layer])
await program.pipe(Effect.provide(layers), Effect.runPromise).finally(() => server.close())
