/**
 * Finds the files of this package. Imports only Node's modules, because the plugin for Vite has no Effect.
 */
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

/**
 * The absolute path of a file or folder in the package. Found by the name of the package, because a bundle moves this
 * module. Throws in a program that is bundled and installed without the package.
 */
export const packageFile = (path: string): string =>
  join(dirname(createRequire(import.meta.url).resolve("vitrine/package.json")), path)
