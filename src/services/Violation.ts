/**
 * What in fetched content is not as it is expected to be, so that it is not shown.
 */
import * as Schema from "effect/Schema"
import { optional } from "../internal/schemas.ts"

/** All text in it is one line without control characters, cut where it is long. */
export const Violation = Schema.Struct({
  table: Schema.String,
  /** Where `table` is the name of a document of a source that has no tables. */
  kind: optional(Schema.Literal("document")),
  /** The first record that has it. Missing where it is one of the table as a whole. */
  recordId: optional(Schema.String),
  /** The file of the records and the first lines that have it, where an editor finds them. Missing if that is not known. */
  file: optional(Schema.String),
  lines: optional(Schema.NonEmptyArray(Schema.NonNegativeInt)),
  /** How many records have it. Missing with `recordId`. */
  records: optional(Schema.NonNegativeInt),
  field: optional(Schema.String),
  /** As in "expected …". */
  expected: Schema.String,
  /** What came, as in "found …". */
  found: Schema.String,
  /** What may be the reason: a sentence for people. */
  hint: optional(Schema.String)
})
export type Violation = typeof Violation.Type
