/**
 * The options of versions on disk. The content plugin has them too.
 */
import * as Schema from "effect/Schema"
import { decodeOptions, expects, optional } from "../../internal/Options.ts"
import { duration } from "../../internal/optionSchemas.ts"

export const folder = expects(Schema.NonEmptyString, "the path of a folder")

export const retentionOptions = {
  keepVersions: optional(expects(Schema.Int.pipe(Schema.between(1, 1000)), "an integer from 1 to 1000"), 3),
  ackLease: optional(duration, "30 minutes")
}

export const release = optional(
  expects(Schema.Literal("at once", "by hand"), '"at once" or "by hand"'),
  "at once"
)

const VersionStoreDiskOptions = Schema.Struct({
  /** The downloads folder; made if it is missing. */
  directory: folder,
  /** As in the content plugin. */
  ...retentionOptions,
  release
})
export type VersionStoreDiskOptions = typeof VersionStoreDiskOptions.Type
export type VersionStoreDiskConfig = typeof VersionStoreDiskOptions.Encoded

export const decode = decodeOptions("the options of the store of versions", VersionStoreDiskOptions)
