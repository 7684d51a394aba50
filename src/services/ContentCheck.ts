/**
 * What a fetch would change: the result of `content.check`.
 */
import * as Schema from "effect/Schema"
import { contentCounts } from "../internal/contentCounts.ts"
import { optional } from "../internal/schemas.ts"
import { ContentDiff } from "./ContentDiff.ts"
import { Warning } from "./Warning.ts"

/**
 * The changes that a fetch would make: the result of `content.check`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ContentCheck = Schema.Struct({
  /** In the order of the configuration, and then the removed sources. */
  sources: Schema.Array(
    Schema.Struct({
      sourceId: Schema.String,
      /**
       * Whether a fetch would change anything in it, if only the order of records: then there would be a new version.
       */
      changed: Schema.Boolean,
      /** Present if the latest version has it, and the configuration does not: a fetch would remove its files. */
      removed: optional(Schema.Literal(true)),
      ...contentCounts,
      warnings: optional(Schema.Array(Warning))
    })
  ),
  /** The differences from the latest version, as between two versions. */
  ...ContentDiff.omit("from", "to").fields
})
export type ContentCheck = typeof ContentCheck.Type

/**
 * The content is copied from another controller, which checks what it fetches.
 *
 * @since 0.1.0
 * @category errors
 */
export class NotFetchedHere extends Schema.TaggedError<NotFetchedHere>()("vitrine/NotFetchedHere", {}) {
  override get message() {
    return 'Versions are copied here, not fetched: run "vitrine check" on the hub, the machine that fetches them.'
  }
}
