/**
 * The default id of a machine, and the version of Vitrine on it. Needs no other library: short commands load it.
 */
import { readFileSync } from "node:fs"
import { hostname } from "node:os"
import { packageFile } from "./packageFile.ts"

/** The longest label of a DNS name. */
const maxLength = 63

/** The short name of a host as an id: ASCII letters in lower case, digits, `_` and `-`. */
export const nodeIdOf = (hostname: string): string =>
  (hostname.split(".", 1)[0] ?? "")
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, "-")
    .slice(0, maxLength)
    .replace(/^-+|-+$/g, "") || "localhost"

/** The default id of this host. */
export const nodeId = (): string => nodeIdOf(hostname())

const readVersion = (): string => {
  try {
    return JSON.parse(readFileSync(packageFile("package.json"), "utf8")).version
  } catch {
    return "unknown"
  }
}

/** `unknown` in a program that is bundled and installed without the package. */
export const vitrineVersion = readVersion()
