/**
 * The text of saved tables: equal data gives equal bytes.
 *
 * The hosted API gives the fields of a record in no particular order, so names are sorted, those of nested
 * objects too. Names that look like array indices come first, as in every JavaScript object.
 */
import * as Predicate from "effect/Predicate"
import type { TableRecord } from "../../services/TableSourceClient.ts"

/** What a column named `id` is saved as, because `id` is the record's own. */
export const idColumn = "id_"

/** A record as it is saved: its id, then its fields. */
export const savedRecord = ({ fields, id }: TableRecord): Readonly<Record<string, unknown>> =>
  Object.fromEntries([["id", id], ...sortedEntries(Object.hasOwn(fields, "id") ? renamed(fields) : fields)])

/** A saved record, or a part of one, with the keys of all objects in it sorted. */
export const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) {
    return value.map(sorted)
  }
  return Predicate.isReadonlyRecord(value) ? Object.fromEntries(sortedEntries(value)) : value
}

/** Text with the indentation that all saved JSON has. */
export const savedText = (value: unknown): string => JSON.stringify(value, null, 2)

type Fields = Readonly<Record<string, unknown>>

const sortedEntries = (value: Fields): ReadonlyArray<readonly [string, unknown]> =>
  Object.keys(value)
    .sort()
    .map((name) => [name, sorted(value[name])])

const renamed = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, cell]) => [name === "id" ? idColumn : name, cell]))
