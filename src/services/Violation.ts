/**
 * What in fetched content is not as it is expected to be, so that it is not shown.
 */
import * as Schema from "effect/Schema"

const optional = <A>(schema: Schema.Schema<A>) => Schema.optionalWith(schema, { exact: true })

/** All text in it is one line without control characters, cut where it is long. */
export const Violation = Schema.Struct({
  table: Schema.String,
  /** Where `table` is the name of a document of a source that has no tables. */
  kind: optional(Schema.Literal("document")),
  /** The first record that has it. Missing where it is one of the table as a whole. */
  recordId: optional(Schema.String),
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

/** `Table "Objects", record rec1 and 2 more, field "Title": expected text, found nothing.` */
export const violationText = ({
  expected,
  field,
  found,
  hint,
  kind,
  recordId,
  records = 1,
  table
}: Violation): string => {
  const place = [
    `${kind === "document" ? "Document" : "Table"} ${JSON.stringify(table)}`,
    ...(recordId === undefined ? [] : [`record ${recordId}${records > 1 ? ` and ${records - 1} more` : ""}`]),
    ...(field === undefined ? [] : [`field ${JSON.stringify(field)}`])
  ].join(", ")
  return `${place}: expected ${expected}, found ${found}.${hint === undefined ? "" : ` ${hint}`}`
}
