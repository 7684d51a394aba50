/**
 * The hub of a venue: `CONTENT=… DOWNLOADS=… vitrine start`.
 */
import { content, contentServer, defineConfig, httpTransport } from "vitrine"
import { folderSource } from "./folderSource.ts"
import { reportsToken } from "./protocol.ts"

const { CONTENT = "", DOWNLOADS = "" } = process.env

export default defineConfig({
  plugins: [
    content({ downloadPath: DOWNLOADS, sources: [folderSource("exhibit", CONTENT)] }),
    contentServer({ downloadPath: DOWNLOADS, port: 0, reports: { token: reportsToken } }),
    httpTransport({ port: 0, allowedCommands: ["content.fetch"] })
  ]
})
