/**
 * The tables of a hosted base: their names and ids, which have cells that are made of cells of others, and what cells are like.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { TableSchema } from "../../../services/TableSourceClient.ts"
import type { AirtableClientOptions } from "./AirtableOptions.ts"
import type { Api } from "./api.ts"
import { decodeOther } from "./responses.ts"

const text = Schema.optionalWith(Schema.String, { exact: true })

/** What a formula or a lookup comes to. */
const Result = Schema.Struct({ type: text })

const Field = Schema.Struct({
  name: text,
  type: text,
  options: Schema.optionalWith(
    Schema.NullOr(
      Schema.Struct({
        linkedTableId: text,
        result: Schema.optionalWith(Schema.NullOr(Result), { exact: true })
      })
    ),
    { exact: true }
  )
})

const Table = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  fields: Schema.optionalWith(Schema.Array(Field), { exact: true, default: () => [] })
})

export type BaseSchema = ReadonlyArray<typeof Table.Type>

/** As many as the API allows. */
const maxTables = 1000

const decodeTables = decodeOther(
  Schema.Struct({ tables: Schema.Array(Table).pipe(Schema.maxItems(maxTables)) }),
  "the tables of a base"
)

export const readSchema = ({ askForOne }: Api, { baseId }: AirtableClientOptions) =>
  askForOne(
    {
      table: "",
      method: "GET",
      path: ["meta", "bases", baseId, "tables"],
      needs: 'the scope "schema.bases:read"'
    },
    decodeTables
  ).pipe(Effect.map(({ tables }): BaseSchema => tables))

/** Fields whose cells are made of those of linked records. */
const derived: ReadonlySet<string | undefined> = new Set(["multipleLookupValues", "rollup", "count"])

/** These tables, and those with cells that are made of theirs. */
export const withDependents = (schema: BaseSchema, ids: ReadonlySet<string>): ReadonlySet<string> => {
  const derivedTables = schema
    .filter(({ fields }) => fields.some(({ type }) => derived.has(type)))
    .map(({ fields, id }) => ({ id, links: new Set(fields.map(({ options }) => options?.linkedTableId)) }))
  const found = new Set(ids)
  // What is found is visited, too: a lookup can be of a lookup.
  for (const id of found) {
    for (const { id: other, links } of derivedTables) {
      if (links.has(id)) found.add(other)
    }
  }
  return found
}

/** Whether a table, by its name or id, is one of these; one that is not in the schema may be any. */
export const isAmong =
  (schema: BaseSchema, ids: ReadonlySet<string>) =>
  (table: string): boolean => {
    const known = schema.find(({ id, name }) => id === table || name === table)
    return known === undefined || ids.has(known.id)
  }

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
