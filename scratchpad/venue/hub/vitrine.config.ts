/**
 * The hub of the venue: the only machine that fetches. Players copy its versions over HTTP.
 */
import { fileURLToPath } from "node:url"
import { content, contentServer, defineConfig, tableServer, tableSource } from "vitrine"

const { env } = process
const tablesPort = Number(env.TABLES_PORT ?? 8740)

export default defineConfig({
  plugins: [
    ...(env.TABLES_URL === undefined
      ? [
          tableServer({
            directory: fileURLToPath(new URL("../../exhibit/tables", import.meta.url)),
            port: tablesPort
          })
        ]
      : []),
    content({
      downloadPath: env.DOWNLOADS ?? "downloads",
      fetchEvery: "2 seconds",
      sources: [
        tableSource({
          id: "exhibit",
          baseId: "appExhibit",
          apiKey: env.TABLE_API_KEY ?? "local",
          endpointUrl: env.TABLES_URL ?? `http://127.0.0.1:${tablesPort}`,
          tables: ["Objects"],
          keyValueTables: ["Settings"]
        })
      ]
    }),
    // A hub whose players are other machines binds "0.0.0.0", or the address that they reach it by.
    contentServer({ downloadPath: env.DOWNLOADS ?? "downloads", port: Number(env.PAGE_PORT ?? 8730) })
  ]
})
