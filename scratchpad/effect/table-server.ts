/**
 * The local table server for tests of any client: here its second answer is an error.
 *
 *     npm run build && npx jiti scratchpad/effect/table-server.ts
 */
import { fileURLToPath } from "node:url"
import { NodeContext } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import { TableServer } from "vitrine"

const directory = fileURLToPath(new URL("../exhibit/tables", import.meta.url))

const program = Effect.gen(function* () {
  const { address, faults, requests } = yield* TableServer.TableServer
  const url = `http://127.0.0.1:${address.port}/v0/appExhibit/Settings`
  const ask = Effect.promise(() => fetch(url, { headers: { authorization: "Bearer local" } }))
  yield* Console.log((yield* ask).status)
  yield* faults.add("Settings 503 x1")
  yield* Console.log((yield* ask).status)
  yield* Console.log((yield* ask).status)
  yield* Console.log((yield* requests).tables)
})

const server = Layer.provide(TableServer.layer({ directory, port: 0 }), NodeContext.layer)
await program.pipe(Effect.provide(server), Effect.runPromise)
