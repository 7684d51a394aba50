/**
 * What the cells of a hosted base are like, by the types of its fields.
 */
import * as Schema from "effect/Schema"
import type { TableSchema } from "../../../services/TableSourceClient.ts"
import type { BaseSchema } from "./baseSchema.ts"

type CellSchema = Schema.Schema.AnyNoContext

const texts = [
  ...["singleLineText", "multilineText", "richText", "email", "url", "phoneNumber", "date", "dateTime"],
  ...["createdTime", "lastModifiedTime", "singleSelect", "externalSyncSource"]
]

const numbers = ["number", "currency", "percent", "duration", "rating", "autoNumber", "count"]

const person = Schema.Struct({
  id: Schema.String,
  email: Schema.optional(Schema.String),
  name: Schema.optional(Schema.String)
})

const textList = Schema.Array(Schema.String)

const ofTypes: ReadonlyMap<string, CellSchema> = new Map<string, CellSchema>([
  ...texts.map((type) => [type, Schema.String] as const),
  ...numbers.map((type) => [type, Schema.Number] as const),
  ...["singleCollaborator", "createdBy", "lastModifiedBy"].map((type) => [type, person] as const),
  ["checkbox", Schema.Boolean],
  ["multipleSelects", textList],
  ["multipleRecordLinks", textList],
  ["multipleCollaborators", Schema.Array(person)],
  ["barcode", Schema.Struct({ text: Schema.String, type: Schema.optional(Schema.NullOr(Schema.String)) })]
])

/** Schemas of the tables of a base; an unknown field is `unknown`. */
export const tableSchemas = (base: BaseSchema, attachment: CellSchema): ReadonlyArray<TableSchema> => {
  const attachments = Schema.Array(attachment)

  const ofType = (type = ""): CellSchema =>
    type === "multipleAttachments" ? attachments : (ofTypes.get(type) ?? Schema.Unknown)

  const ofField = ({ options, type = "" }: BaseSchema[number]["fields"][number]): CellSchema => {
    const result = options?.result?.type
    switch (type) {
      case "formula":
      case "rollup":
        return ofType(result)
      // The items of what is a list in a linked record are items of this one.
      case "multipleLookupValues":
        return result?.startsWith("multiple") ? ofType(result) : Schema.Array(Schema.NullOr(ofType(result)))
      default:
        return ofType(type)
    }
  }

  return base.map(({ fields, id, name }) => ({
    id,
    name,
    fields: Object.fromEntries(
      fields.flatMap((field) => (field.name === undefined ? [] : [[field.name, ofField(field)]]))
    )
  }))
}
