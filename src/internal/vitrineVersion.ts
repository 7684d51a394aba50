/**
 * The version of Vitrine.
 */
import { createRequire } from "node:module"
import * as Option from "effect/Option"

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
