/**
 * The demo exhibit: its tables, the controller and the kiosk page, all on this machine.
 *
 * Every port and the address of the tables can be set in the environment, so that the exhibit can also run
 * beside another one, or on a hosted base.
 */
import { fileURLToPath } from "node:url"
import { content, defineConfig, httpTransport, tableServer, tableSource } from "vitrine"
import * as KioskPage from "./KioskPage.ts"

const { env } = process
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const tablesPort = Number(env.TABLES_PORT ?? 8730)
const downloads = here("downloads")

export default defineConfig({
  plugins: [
    ...(env.TABLES_URL === undefined ? [tableServer({ directory: "tables", port: tablesPort })] : []),
    content({
      downloadPath: downloads,
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
    httpTransport({ port: Number(env.TRANSPORT_PORT ?? 8710) }),
    KioskPage.plugin({
      port: Number(env.PAGE_PORT ?? 8720),
      page: here("page"),
      downloads
    })
  ]
})
