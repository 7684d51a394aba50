/**
 * The files of the page, as they lie beside this module. In the bundle they stand in the place of it.
 */
import { readFileSync } from "node:fs"

const read = (name: string): string => readFileSync(new URL(`page/${name}`, import.meta.url), "utf8")

export const readPageFiles = () => ({
  html: read("index.html"),
  css: read("dashboard.css"),
  js: read("dashboard.js")
})
