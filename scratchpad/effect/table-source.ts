/**
 * A table source over your own client; here a client in memory, as in a test.
 *
 *     npm run build && npx jiti scratchpad/effect/table-source.ts
 */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Console, Effect, Layer, Option } from "effect"
import { ContentSource, HttpClientNode, TableSource, TableSourceClientMemory } from "vitrine"

const tables = TableSourceClientMemory.layer({
  Objects: [{ id: "rec1", fields: { name: "Astrolabe", year: 1325 } }],
  Settings: [{ id: "rec2", fields: { key: "title", value: "Stars" } }]
})
const source = TableSource.layer({ id: "exhibits", tables: ["Objects"], keyValueTables: ["Settings"] })

const program = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* fs.makeTempDirectoryScoped()
  const { fetch } = yield* ContentSource.ContentSource
  const fetched = yield* fetch({ directory, previous: Option.none(), progress: Console.log })
  yield* Console.log(fetched.records, yield* fs.readDirectory(directory))
  yield* Console.log(yield* fs.readFileString(`${directory}/Settings.json`))
})
const platform = Layer.merge(NodeContext.layer, HttpClientNode.layer)
const layers = source.pipe(Layer.provide(tables), Layer.provideMerge(platform))
await program.pipe(Effect.scoped, Effect.provide(layers), Effect.runPromise)
