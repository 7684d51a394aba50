/**
 * The command line in one piece, which starts several times faster than its hundreds of modules.
 */
import effect from "effect/package.json" with { type: "json" }

export { run } from "./commandLine.ts"

/** The version of Effect that is in it. */
export const effectVersion = effect.version
