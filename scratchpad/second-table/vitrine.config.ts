/**
 * A controller whose content comes from the other API: `SHELVES=http://… SHELVES_TOKEN=… vitrine start`.
 */
import { content, defineConfig } from "vitrine"
import { shelfSource } from "./shelfSource.ts"

const { DOWNLOADS = "downloads", SHELVES = "", SHELVES_TOKEN = "" } = process.env

export default defineConfig({
  plugins: [
    content({
      downloadPath: DOWNLOADS,
      sources: [shelfSource({ id: "library", url: SHELVES, token: SHELVES_TOKEN, shelves: ["Books"] })]
    })
  ]
})
