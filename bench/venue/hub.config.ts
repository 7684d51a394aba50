/**
 * The hub of a venue: `CONTENT=… DOWNLOADS=… SCREENS=… vitrine start`.
 */
import { content, contentServer, defineConfig, httpTransport } from "vitrine"
import { folderSource } from "./folderSource.ts"
import { reportsToken } from "./protocol.ts"

const { CONTENT = "", DOWNLOADS = "", SCREENS = "0" } = process.env

export default defineConfig({
  screens: Array.from({ length: Number(SCREENS) }, (_, index) => ({ id: `screen-${index}` })),
  plugins: [
    content({ downloadPath: DOWNLOADS, sources: [folderSource("exhibit", CONTENT)] }),
    contentServer({ downloadPath: DOWNLOADS, port: 0, reports: { token: reportsToken } }),
    httpTransport({ port: 0, allowedCommands: ["content.fetch", "content.ack"] })
  ]
})
