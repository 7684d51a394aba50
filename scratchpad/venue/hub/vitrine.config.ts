/**
 * The hub of the venue: the only machine that fetches. Players copy its versions over HTTP, and report to it.
 */
import { content, contentServer, dashboard, defineConfig, tableSource } from "vitrine"
import { tableServer } from "../../table-server/tableServer.ts"

const { env } = process
const tablesPort = Number(env.TABLES_PORT ?? 8740)

export default defineConfig({
  node: { id: "hub", label: "Hub", role: "hub" },
  players: [1, 2, 3].map((number) => ({ id: `player-${number}`, label: `Hall ${number}` })),
  plugins: [
    ...(env.TABLES_URL === undefined
      ? [tableServer({ directory: "../../exhibit/tables", port: tablesPort })]
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
    // If the players are other machines, bind "0.0.0.0", or the address under which they reach the hub.
    contentServer({
      downloadPath: env.DOWNLOADS ?? "downloads",
      port: Number(env.PAGE_PORT ?? 8730),
      reports: { token: env.REPORTS_TOKEN ?? "a-token-of-the-venue" }
    }),
    dashboard({ port: Number(env.DASHBOARD_PORT ?? 8720) })
  ]
})
