/**
 * One machine of a venue: `HUB=… DOWNLOADS=… POLL_EVERY=… vitrine start`, in milliseconds.
 */
import { defineConfig, httpTransport, replica } from "vitrine"

const { DOWNLOADS = "", HUB = "", POLL_EVERY } = process.env

export default defineConfig({
  plugins: [
    replica({
      from: HUB,
      downloadPath: DOWNLOADS,
      ...(POLL_EVERY === undefined ? {} : { pollEvery: Number(POLL_EVERY) })
    }),
    httpTransport({ port: 0, allowedCommands: ["content.fetch"] })
  ]
})
