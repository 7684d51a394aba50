/**
 * A controller whose versions are announced over MQTT:
 *
 *     npm run build && MQTT_URL=mqtt://127.0.0.1 node dist/bin.cjs start --config scratchpad/mqtt/vitrine.config.ts
 */
import { content, defineConfig, tableSource } from "vitrine"
import { tableServer } from "../table-server/tableServer.ts"
import { mqttPublisher } from "./mqttPublisher.ts"

const { env } = process
const tablesPort = Number(env.TABLES_PORT ?? 8740)

export default defineConfig({
  plugins: [
    ...(env.TABLES_URL === undefined
      ? [tableServer({ directory: "../exhibit/tables", port: tablesPort })]
      : []),
    mqttPublisher({ url: env.MQTT_URL ?? "mqtt://127.0.0.1", topic: "exhibit/version" }),
    content({
      downloadPath: env.DOWNLOADS ?? "downloads",
      fetchEvery: "2 seconds",
      sources: [
        tableSource({
          id: "exhibit",
          baseId: "appExhibit",
          apiKey: env.TABLE_API_KEY ?? "local",
          endpointUrl: env.TABLES_URL ?? `http://127.0.0.1:${tablesPort}`,
          tables: ["Objects"]
        })
      ]
    })
  ]
})
