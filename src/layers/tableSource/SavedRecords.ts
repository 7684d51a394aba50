/**
 * The records of a table in the form in which they are saved, whether they are written to a file or handed over.
 */
import * as Effect from "effect/Effect"
import type { TableRecord } from "../../services/TableSourceClient.ts"
import { idColumn, makeSavedRecord, type SavedRecord } from "./SavedJson.ts"
import { TableNotSaved } from "./TableNotSaved.ts"

export interface SavedRecords {
  /** The form of the next records. It fails where two columns would be saved as one. */
  readonly add: (
    records: ReadonlyArray<TableRecord>
  ) => Effect.Effect<ReadonlyArray<SavedRecord>, TableNotSaved>

  /** What was saved otherwise than one may expect. */
  readonly warnings: () => ReadonlyArray<string>
}

export const makeSavedRecords = (table: string): SavedRecords => {
  const columns = new Set<string>()
  const savedRecord = makeSavedRecord()

  const form = (record: TableRecord) => {
    for (const column of ["id", idColumn]) {
      if (Object.hasOwn(record.fields, column)) columns.add(column)
    }
    return savedRecord(record)
  }

  return {
    add: (records) =>
      Effect.filterOrFail(
        formed(table, () => records.map(form)),
        () => columns.size < 2,
        () =>
          new TableNotSaved({
            table,
            detail: `the columns "id" and "${idColumn}" would both be saved as "${idColumn}"; rename one of them`
          })
      ),
    warnings: () =>
      columns.has("id") ? [`the column "id" is saved as "${idColumn}", because "id" is the record's own`] : []
  }
}

/** A cell may be nested deeper than can be written. */
export const formed = <A>(table: string, form: () => A): Effect.Effect<A, TableNotSaved> =>
  Effect.try({
    try: form,
    catch: (cause) =>
      new TableNotSaved({ table, detail: `cannot be written as JSON: ${String(cause)}`, cause })
  })
