/**
 * The options of the versions on disk, which the content plugin has too.
 */
import * as Schema from "effect/Schema"
import { duration } from "../../internal/duration.ts"
import { decodeOptions, expects, optional } from "../../internal/Options.ts"

export const folder = expects(Schema.NonEmptyString, "the path of a folder")

export const retentionOptions = {
  /** How many versions are kept on disk; the active one and those that consumers show come on top. Default 3. */
  keepVersions: optional(expects(Schema.Int.pipe(Schema.between(1, 1000)), "an integer from 1 to 1000"), 3),

  /** How long a consumer's `content.ack` keeps a version. Default 30 minutes. */
  ackLease: optional(duration, "30 minutes")
}

export const release = optional(
  expects(Schema.Literal("at once", "by hand"), '"at once" or "by hand"'),
  "at once"
)

const VersionStoreDiskOptions = Schema.Struct({
  /** The downloads folder; made where it is missing. */
  directory: folder,
  ...retentionOptions,
  /** Whether new versions are shown at once, or wait until somebody releases them. Default `at once`. */
  release
})
export type VersionStoreDiskOptions = typeof VersionStoreDiskOptions.Type
export type VersionStoreDiskConfig = typeof VersionStoreDiskOptions.Encoded

export const decode = decodeOptions("the options of the store of versions", VersionStoreDiskOptions)
