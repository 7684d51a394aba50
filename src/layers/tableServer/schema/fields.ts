/**
 * The fields of a table, with the types that its cells look like.
 */
import * as Predicate from "effect/Predicate"
import { fieldId } from "../tables/identifiers.ts"
import type { Table } from "../tables/Table.ts"

export interface Field {
  readonly id: string
  readonly name: string
  readonly type: FieldType
}

type FieldType = "singleLineText" | "number" | "checkbox" | "multipleAttachments"

export const fieldsOf = ({ fieldNames, name, records }: Table): ReadonlyArray<Field> =>
  fieldNames.map((field) => ({
    id: fieldId(name, field),
    name: field,
    type: typeOf(records.flatMap(({ fields }) => (Object.hasOwn(fields, field) ? [fields[field]] : [])))
  }))

/** Text where there are no cells, or not all of one type. */
const typeOf = (cells: ReadonlyArray<unknown>): FieldType => {
  if (cells.length === 0) return "singleLineText"
  if (cells.every(Predicate.isNumber)) return "number"
  if (cells.every(Predicate.isBoolean)) return "checkbox"
  return cells.every(isAttachments) ? "multipleAttachments" : "singleLineText"
}

/** As a file declares them, or as they are listed. */
const isAttachments = (cell: unknown): boolean =>
  Array.isArray(cell) &&
  cell.every((item) => Predicate.hasProperty(item, "file") || Predicate.hasProperty(item, "filename"))
