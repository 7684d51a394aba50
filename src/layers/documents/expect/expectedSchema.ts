/**
 * What is expected of a table, as a schema of what is saved.
 */
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import type { FieldType } from "./ExpectConfig.ts"
import type { FieldSchema, TableExpectation } from "./ExpectOptions.ts"
import { fullTypeOf } from "./fieldTypes.ts"

/** How a source saves what is expected. */
export interface SavedForm {
  /** An attachment. */
  readonly attachment: FieldSchema
  /** Whether an empty cell is left out, or may be `null` as well. */
  readonly emptyCells: "left out" | "null"
}

export const expectedSchema = ({ fields = {} }: TableExpectation, form: SavedForm): FieldSchema =>
  Schema.isSchema(fields)
    ? fields
    : Schema.Struct(Record.map(fields, (type) => (Schema.isSchema(type) ? type : fieldOf(type, form))))

const fieldOf = (type: FieldType, form: SavedForm) => {
  const schema = schemaOf(type, form.attachment)
  return type.endsWith("?")
    ? Schema.optional(form.emptyCells === "null" ? Schema.NullOr(schema) : schema)
    : schema
}

const schemaOf = (type: FieldType, attachment: FieldSchema): FieldSchema => {
  switch (fullTypeOf(type)) {
    case "text":
    case "date":
    case "file":
      return Schema.String
    case "number":
      return Schema.Number
    case "boolean":
      return Schema.Boolean
    case "attachments":
      return Schema.Array(attachment)
    case "list":
      return Schema.Array(Schema.Unknown)
    default:
      return Schema.Unknown
  }
}
