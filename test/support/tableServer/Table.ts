/**
 * A table in memory: what was read from a file, and the records that are served of it.
 */
import * as Predicate from "effect/Predicate"
import { fieldId, recordId } from "./identifiers.ts"

/** What a file holds, before anything is made of it. */
export interface TableContent {
  /** Every field there is, in the order in which the file brings them up. */
  readonly fieldNames: ReadonlyArray<string>
  readonly rows: ReadonlyArray<Row>
}

export interface Row {
  /** Where the file brings ids of its own. */
  readonly id?: string
  readonly createdTime?: string
  readonly cells: Readonly<Record<string, unknown>>
}

export interface Table extends Omit<TableContent, "rows"> {
  readonly name: string
  readonly records: ReadonlyArray<ServedRecord>
}

/** A record as the API answers with it. Empty cells are left out. */
export interface ServedRecord {
  readonly id: string
  /** ISO 8601, UTC, with milliseconds. */
  readonly createdTime: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** The creation time of records whose file does not tell one: files carry no such time, and answers must repeat. */
export const defaultCreatedTime = "2000-01-01T00:00:00.000Z"

/** Makes the table of that name from what its file holds. */
export const makeTable = (name: string, { fieldNames, rows }: TableContent): Table => {
  const firstField = fieldNames[0] ?? ""
  const occurrences = new Map<string, number>()
  const idOf = (cells: Row["cells"]): string => {
    const firstCell = Object.hasOwn(cells, firstField) ? cells[firstField] : undefined
    const key = isEmptyCell(firstCell) ? "" : JSON.stringify(firstCell)
    const occurrence = (occurrences.get(key) ?? 0) + 1
    occurrences.set(key, occurrence)
    return recordId(name, key, occurrence)
  }
  return {
    name,
    fieldNames,
    records: rows.map(({ cells, createdTime, id }) => ({
      id: id ?? idOf(cells),
      createdTime: createdTime ?? defaultCreatedTime,
      fields: Object.fromEntries(Object.entries(cells).filter(([, cell]) => !isEmptyCell(cell)))
    }))
  }
}

/** Whether the hosted API would leave the cell out. */
export const isEmptyCell = (cell: unknown): boolean =>
  Predicate.isNullable(cell) || cell === "" || cell === false || (Array.isArray(cell) && cell.length === 0)

export interface Field {
  readonly id: string
  readonly name: string
  readonly type: "singleLineText" | "number" | "checkbox" | "multipleAttachments"
}

/** The fields of a table, with the types that its cells look like. */
export const fieldsOf = ({ fieldNames, name, records }: Table): ReadonlyArray<Field> =>
  fieldNames.map((field) => ({
    id: fieldId(name, field),
    name: field,
    type: typeOf(records.flatMap(({ fields }) => (Object.hasOwn(fields, field) ? [fields[field]] : [])))
  }))

/** Text where there are no cells, or not all of one type. */
const typeOf = (cells: ReadonlyArray<unknown>): Field["type"] => {
  if (cells.length === 0) return "singleLineText"
  if (cells.every(Predicate.isNumber)) return "number"
  if (cells.every(Predicate.isBoolean)) return "checkbox"
  return cells.every(isAttachments) ? "multipleAttachments" : "singleLineText"
}

/** As a file declares them, or as they are listed. */
const isAttachments = (cell: unknown): boolean =>
  Array.isArray(cell) &&
  cell.every((item) => Predicate.hasProperty(item, "file") || Predicate.hasProperty(item, "filename"))
