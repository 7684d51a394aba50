/**
 * Tables as documents: records as they are saved, page by page, or the object of a key/value table.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { TableError, type TableSourceClient } from "../../../services/TableSourceClient.ts"
import { type Document, Keys, Records } from "../../documents/Document.ts"
import type { CheckedTable } from "../../documents/expect/TableCheck.ts"
import { notice } from "../../documents/warnings.ts"
import { keyValues } from "./KeyValueTable.ts"
import { makeSavedRecords, type SavedRecord } from "./SavedRecords.ts"
import type { TableSourceOptions } from "./TableOptions.ts"
import { fieldsOf } from "./TableOptions.ts"
import { pagesOf, type ReadError, withRestarts } from "./TableReader.ts"

/** A table, and how it is saved. */
export type SourceTable = Pick<CheckedTable, "table" | "holds">

export const warnOfNoTables = ({
  id,
  keyValueTables,
  tables
}: Pick<TableSourceOptions, "id" | "keyValueTables" | "tables">): Effect.Effect<void> =>
  tables.length + keyValueTables.length === 0
    ? Effect.logWarning(`The table source "${id}" has neither "tables" nor "keyValueTables": it is empty.`)
    : Effect.void

export const tablesOf = ({
  keyValueTables,
  tables
}: Pick<TableSourceOptions, "keyValueTables" | "tables">): ReadonlyArray<SourceTable> => [
  ...tables.map((table) => ({ table, holds: "records" as const })),
  ...keyValueTables.map((table) => ({ table, holds: "keys" as const }))
]

type Options = Pick<TableSourceOptions, "defaultView" | "fields" | "tables">

const pagesIn = (table: string, options: Options, client: typeof TableSourceClient.Service) =>
  pagesOf(client, {
    table,
    view: options.defaultView,
    fields: Option.getOrUndefined(fieldsOf(options, table))
  })

/** The records of a table as they are saved. Each page is read when it is needed. */
const recordsOf = (...of: Parameters<typeof pagesIn>): Stream.Stream<ReadonlyArray<SavedRecord>, ReadError> =>
  Stream.suspend(() => {
    const saved = makeSavedRecords(of[0])
    return Stream.concat(
      Stream.mapEffect(pagesIn(...of), saved.add),
      Stream.execute(Effect.suspend(() => notice(saved.warnings())))
    )
  })

const keysOf = Effect.fnUntraced(function* (...of: Parameters<typeof pagesIn>) {
  const rows = Chunk.toArray(yield* Stream.runCollect(Stream.flattenIterables(pagesIn(...of))))
  const { recordOf, value, warnings } = yield* keyValues(of[0], rows)
  yield* notice(warnings)
  return { recordOf, records: rows.length, value }
})

/** A table as a document. */
export const tableDocument = (
  { holds, table }: SourceTable,
  options: Options,
  client: typeof TableSourceClient.Service
): Document<ReadError> => ({
  name: table,
  isSorted: true,
  again: withRestarts(table),
  content:
    holds === "records"
      ? Records({ pages: recordsOf(table, options, client) })
      : Keys({ keys: keysOf(table, options, client) })
})

/** A table that others link to. */
export const linkedTable = (
  table: string,
  options: Options,
  client: typeof TableSourceClient.Service
): Document<ReadError> => {
  const document = tableDocument({ table, holds: "records" }, options, client)
  const pages = Stream.mapError(recordsOf(table, options, client), inLinks)
  return { ...document, content: Records({ pages }) }
}

/** Says which option has the name that the API does not know. */
const inLinks = <E>(error: E): E | TableError =>
  error instanceof TableError && error.reason === "NotFound"
    ? new TableError({ ...error, detail: `${error.detail}. The option "links" names it` })
    : error
