/**
 * The files of the page. They lie beside this module, also in the bundle, where the build puts them.
 */
import { readdirSync, readFileSync } from "node:fs"
import { extname } from "node:path"

const folder = new URL("page/", import.meta.url)

const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".woff2": "font/woff2"
}

/** A file of the page, and the path at which it is served. */
export interface PageFile {
  readonly path: `/${string}`
  readonly type: string
  readonly content: Uint8Array
}

export const readPageFiles = (): ReadonlyArray<PageFile> =>
  readdirSync(folder).flatMap((name) => {
    const type = types[extname(name)]
    return type === undefined
      ? []
      : [
          {
            path: name === "index.html" ? "/" : `/${name}`,
            type,
            content: readFileSync(new URL(name, folder))
          }
        ]
  })
