/**
 * A player of the venue: a copy of the hub's versions on its own disk, and the page that its screen shows.
 */
import { fileURLToPath } from "node:url"
import { contentServer, defineConfig, httpTransport, replica } from "vitrine"

const { env } = process
const downloadPath = env.DOWNLOADS ?? "downloads"

export default defineConfig({
  plugins: [
    replica({ from: env.HUB_URL ?? "http://127.0.0.1:8730", downloadPath, pollEvery: "1 second" }),
    httpTransport({ port: Number(env.TRANSPORT_PORT ?? 8711) }),
    contentServer({
      downloadPath,
      port: Number(env.PAGE_PORT ?? 8731),
      site: fileURLToPath(new URL("../../exhibit/page", import.meta.url))
    })
  ]
})
