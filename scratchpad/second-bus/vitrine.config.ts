/**
 * A controller that shares its events with every process that has the same journal:
 *
 *     npm run build && node dist/bin.cjs start --config scratchpad/second-bus/vitrine.config.ts
 */
import { defineConfig, httpTransport } from "vitrine"
import * as EventBusJournal from "./EventBusJournal.ts"

export default defineConfig({
  plugins: [httpTransport({ port: Number(process.env.PORT ?? 8710), events: ["lamp:*"] })],
  services: EventBusJournal.layer(process.env.JOURNAL ?? "events.ndjson")
})
