/**
 * The demo exhibit: its tables, the controller and the kiosk page, all on this machine.
 *
 * Every port and the address of the tables can be set in the environment, so that the exhibit can also run beside
 * another exhibit, or on a hosted base.
 */
import { content, contentServer, dashboard, defineConfig, httpTransport, tableSource } from "vitrine"
import { tableServer } from "../table-server/tableServer.ts"

const { env } = process
const tablesPort = Number(env.TABLES_PORT ?? 8740)

export default defineConfig({
  plugins: [
    ...(env.TABLES_URL === undefined ? [tableServer({ directory: "tables", port: tablesPort })] : []),
    content({
      fetchEvery: "1 second",
      sources: [
        tableSource({
          id: "exhibit",
          baseId: "appExhibit",
          apiKey: env.TABLE_API_KEY ?? "local",
          endpointUrl: env.TABLES_URL ?? `http://127.0.0.1:${tablesPort}`,
          changes: "webhook",
          tables: ["Objects"],
          keyValueTables: ["Settings"],
          // A renamed column, or a view without rows, stays off the screen.
          expect: {
            Objects: {
              fields: {
                inventory: "text",
                order: "number?",
                title: "text",
                year: "text?",
                maker: "text?",
                material: "text?",
                room: "text?",
                text: "text?",
                picture: "attachments?",
                alt: "text?"
              },
              minRecords: 1
            },
            Settings: { fields: { museum: "any", title: "any", slideSeconds: "number?" }, minRecords: 1 }
          }
        })
      ]
    }),
    httpTransport({ port: Number(env.TRANSPORT_PORT ?? 8710) }),
    contentServer({ port: Number(env.PAGE_PORT ?? 8730), site: "page" }),
    dashboard({ port: Number(env.DASHBOARD_PORT ?? 8720) })
  ]
})
