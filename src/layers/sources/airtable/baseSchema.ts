/**
 * The tables of a hosted base: their names and ids, and which have cells that are made of cells of others.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
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
