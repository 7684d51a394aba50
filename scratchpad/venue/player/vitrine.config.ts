/**
 * A player of the venue: a copy of the hub's versions on its own disk, and the page for its screen.
 */
import { fileURLToPath } from "node:url"
import { contentServer, defineConfig, httpTransport, replica } from "vitrine"

const { env } = process
const hub = env.HUB_URL ?? "http://127.0.0.1:8730"
const downloadPath = env.DOWNLOADS ?? "downloads"

export default defineConfig({
  node: { id: env.PLAYER ?? "player-1", role: "player" },
  plugins: [
    replica({
      from: hub,
      downloadPath,
      pollEvery: "1 second",
      report: { to: hub, token: env.REPORTS_TOKEN ?? "a-token-of-the-venue" }
    }),
    httpTransport({ port: Number(env.TRANSPORT_PORT ?? 8711) }),
    contentServer({
      downloadPath,
      port: Number(env.PAGE_PORT ?? 8731),
      site: fileURLToPath(new URL("../../exhibit/page", import.meta.url))
    })
  ]
})
