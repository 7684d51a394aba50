/**
 * The first part of the controller: the tables, and the content from them.
 */
import { content, defineConfig, tableSource } from "vitrine"
import * as nats from "vitrine/nats"
import { tableServer } from "../../table-server/tableServer.ts"

const { env } = process
const tablesPort = Number(env.TABLES_PORT ?? 8740)

export default defineConfig({
  plugins: [
    tableServer({ directory: env.TABLES ?? "tables", port: tablesPort }),
    content({
      downloadPath: env.DOWNLOADS ?? "downloads",
      fetchEvery: "1 second",
      sources: [
        tableSource({
          id: "exhibits",
          baseId: "appVenue",
          apiKey: "local",
          endpointUrl: `http://127.0.0.1:${tablesPort}`,
          tables: ["Objects"]
        })
      ]
    })
  ],
  services: nats.services({ servers: `nats://127.0.0.1:${env.NATS_PORT ?? 4222}` })
})
