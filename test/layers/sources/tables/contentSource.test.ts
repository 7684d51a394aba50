/**
 * Table sources, over tables in memory and over HTTP, as sources of content.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RequestPacingMemory from "../../../../src/layers/memory/RequestPacingMemory.ts"
import { tableSource } from "../../../../src/layers/sources/tables/airtableSource.ts"
import * as TableSource from "../../../../src/layers/sources/tables/TableSource.ts"
import { TableSourceClient } from "../../../../src/services/TableSourceClient.ts"
import { contentSourceContract, TableSourceClientMemory } from "../../../../src/testing.ts"
import { httpClient } from "../../../support/httpClientWithoutKeepAlive.ts"
import { withLog } from "../../../support/logged.ts"
import { start } from "../../../support/tableServer.ts"
import { temporaryFolder } from "../../../support/temporaryFolder.ts"

const environment = Layer.mergeAll(NodeContext.layer, httpClient, RequestPacingMemory.layer)

contentSourceContract(
  "TableSource over tables in memory",
  Effect.gen(function* () {
    const { client, setTable } = yield* TableSourceClientMemory.make({ changes: true })
    let edition = 0
    const edit = Effect.suspend(() => setTable("Rooms", [{ id: "rec0", fields: { Edition: ++edition } }]))
    yield* edit
    yield* setTable("Objects", [{ id: "rec1", fields: { Name: "vase" } }])
    const source = yield* TableSource.make({ id: "exhibits", tables: ["Objects", "Rooms"] }).pipe(
      Effect.provideService(TableSourceClient, client),
      Effect.provide(yield* Layer.build(environment))
    )
    return { source, edit }
  }),
  { polls: true }
)

contentSourceContract(
  "tableSource",
  Effect.gen(function* () {
    const context = yield* Layer.build(environment)
    return yield* Effect.gen(function* () {
      const folder = yield* temporaryFolder({ "Objects.csv": "Name\nvase\n" })
      let edition = 0
      const edit = Effect.suspend(() => Effect.orDie(folder.write("Rooms.csv", `Edition\n${++edition}\n`)))
      yield* edit
      const server = yield* start(folder.directory, { rateLimit: false })
      const definition = tableSource({
        id: "exhibits",
        baseId: "appX",
        apiKey: "pat123.topsecret",
        endpointUrl: server.url,
        tables: ["Objects", "Rooms"],
        changes: "webhook"
      })
      return { source: yield* definition.make, edit }
    }).pipe(withLog([]), Effect.provide(context))
  }),
  { polls: true }
)
