/**
 * The default id of a machine, and the version of Vitrine on it.
 */
import { createRequire } from "node:module"
import { hostname } from "node:os"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

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
export const nodeId = Effect.sync(() => nodeIdOf(hostname()))

// By the name of the package, which works in the modules and in the bundle. Another program's bundle may lack the
// package.
const readManifest = Option.liftThrowable((): { readonly version: string } =>
  createRequire(import.meta.url)("vitrine/package.json")
)

/** `unknown` in a program that is bundled and installed without the package. */
export const vitrineVersion = Option.match(readManifest(), {
  onNone: () => "unknown",
  onSome: ({ version }) => version
})
