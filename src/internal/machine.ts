/**
 * The default id of a machine, and the version of Vitrine on it.
 */
import { readFileSync } from "node:fs"
import { hostname } from "node:os"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
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
export const nodeId = Effect.sync(() => nodeIdOf(hostname()))

const readManifest = Option.liftThrowable((): { readonly version: string } =>
  JSON.parse(readFileSync(packageFile("package.json"), "utf8"))
)

/** `unknown` in a program that is bundled and installed without the package. */
export const vitrineVersion = Option.match(readManifest(), {
  onNone: () => "unknown",
  onSome: ({ version }) => version
})
