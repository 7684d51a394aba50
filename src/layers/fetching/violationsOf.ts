/**
 * Whether a version was rejected.
 */
import type { FetchError } from "../../services/Content.ts"
import type { SourceFailed } from "../../services/ContentSource.ts"

/** Why a version was rejected; nothing where a fetch failed for another reason. */
export const violationsOf = (error: FetchError): SourceFailed["violations"] =>
  error._tag === "vitrine/SourceFailed" ? error.violations : undefined
