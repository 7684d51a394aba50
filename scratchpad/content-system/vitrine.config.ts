/**
 * A controller whose content comes from this content system: `SHELVES=http://… SHELVES_TOKEN=… vitrine start`.
 */
import { content, defineConfig } from "vitrine"
import { shelfSource } from "./ShelfSource.ts"

const { DOWNLOADS = "downloads", SHELVES = "", SHELVES_TOKEN = "" } = process.env

export default defineConfig({
  plugins: [
    content({
      downloadPath: DOWNLOADS,
      sources: [shelfSource({ id: "library", url: SHELVES, token: SHELVES_TOKEN, shelves: ["Books"] })]
    })
  ]
})
