/**
 * Tables for tests of what is done with records.
 */
import { makeTable, type Table } from "../../src/layers/tableServer/Table.ts"

/** A table whose first field is the given one. */
export const tableOf = (rows: ReadonlyArray<Readonly<Record<string, unknown>>>, name = "Objects"): Table =>
  makeTable(name, {
    fieldNames: [...new Set(rows.flatMap((cells) => Object.keys(cells)))],
    rows: rows.map((cells) => ({ cells }))
  })

/** A table with as many records, numbered from 0 in the field `n`. */
export const numberedTable = (length: number): Table => tableOf(Array.from({ length }, (_, n) => ({ n })))
