import type { FetchedSource } from "../../src/services/ContentSource.ts"

/** The texts of warnings. */
export const textsOf = (warnings: FetchedSource["warnings"]): ReadonlyArray<string> | undefined =>
  warnings?.map((warning) => (typeof warning === "string" ? warning : warning.text))
