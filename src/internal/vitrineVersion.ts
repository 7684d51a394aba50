/**
 * Which version of Vitrine this is.
 */
import { createRequire } from "node:module"

// By its name, which is the same from the modules and from the bundle.
const manifest: { readonly version: string } = createRequire(import.meta.url)("vitrine/package.json")

export const vitrineVersion = manifest.version
