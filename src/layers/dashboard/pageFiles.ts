/**
 * The files of the page. They lie beside this module; of the bundle, where the build has put them.
 */
import { readFileSync } from "node:fs"
import { extname } from "node:path"

const folder = "page/"

const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".woff2": "font/woff2"
}

const names = [
  "actions.js",
  "content.js",
  "dashboard.css",
  "dashboard.js",
  "fetches.js",
  "index.html",
  "instrumentSans.woff2",
  "instrumentSansExtended.woff2",
  "newsreader.woff2",
  "newsreaderItalic.woff2",
  "parts.js",
  "status.js",
  "tiles.js"
]

/** A file of the page, and where it is served. */
export interface PageFile {
  readonly path: `/${string}`
  readonly type: string
  readonly content: Uint8Array
}

export const readPageFiles = (): ReadonlyArray<PageFile> =>
  names.map((name) => ({
    path: name === "index.html" ? "/" : `/${name}`,
    type: types[extname(name)] ?? "application/octet-stream",
    content: readFileSync(new URL(`${folder}${name}`, import.meta.url))
  }))
