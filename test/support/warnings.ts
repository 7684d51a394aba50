import type { FetchedSource } from "../../src/services/ContentSource.ts"
import type { Warning } from "../../src/services/Warning.ts"

/** The texts of warnings. */
export const textsOf = (warnings: FetchedSource["warnings"]): ReadonlyArray<string> | undefined =>
  warnings?.map((warning) => (typeof warning === "string" ? warning : warning.text))

/** A warning of no particular kind, about the whole. */
export const note = (text: string): Warning => ({ code: "content:note", subject: "", text })
