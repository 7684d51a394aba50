/**
 * A violation of the expectations by fetched content: the content is not shown.
 */
import * as Schema from "effect/Schema"
import { optional } from "../internal/schemas.ts"

/**
 * All text in it is one line without control characters, shortened if it is long.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Violation = Schema.Struct({
  table: Schema.String,
  /** If `table` is the name of a document, from a source without tables. */
  kind: optional(Schema.Literal("document")),
  /** The first record with the violation. Missing for a violation of the table as a whole. */
  recordId: optional(Schema.String),
  /**
   * The file of the records, and the first rows with the violation, as a spreadsheet counts them, with the ids of their
   * records. Missing if they are not known.
   */
  file: optional(Schema.String),
  rows: optional(
    Schema.NonEmptyArray(Schema.Struct({ row: Schema.NonNegativeInt, id: optional(Schema.String) }))
  ),
  /** How many records have the violation. Missing with `recordId`. */
  records: optional(Schema.NonNegativeInt),
  field: optional(Schema.String),
  /** As in "expected …". */
  expected: Schema.String,
  /** The value that came, as in "found …". */
  found: Schema.String,
  /** A possible reason: a sentence for people. */
  hint: optional(Schema.String)
})
export type Violation = typeof Violation.Type
