/**
 * Which version of Vitrine this is.
 */
import { createRequire } from "node:module"
import * as Option from "effect/Option"

// By its name, which is the same from the modules and from the bundle; a bundle of somebody else's may be without it.
const readManifest = Option.liftThrowable((): { readonly version: string } =>
  createRequire(import.meta.url)("vitrine/package.json")
)

/** `unknown` in a program that is bundled and installed without the package. */
export const vitrineVersion = Option.match(readManifest(), {
  onNone: () => "unknown",
  onSome: ({ version }) => version
})
