/**
 * Tables as documents: saved records, page by page, or the object of a key/value table. A table is read from its
 * first page to its last, and again if the server forgets the list.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { SourceError } from "../../../services/SourceError.ts"
import {
  CursorExpired,
  type PageRequest,
  TableError,
  type TableRecord,
  type TableSourceClient
} from "../../../services/TableSourceClient.ts"
import { type Document, Keys, Records } from "../../documents/Document.ts"
import type { CheckedTable } from "../../documents/expect/TableCheck.ts"
import { keyValues } from "../../documents/keyValues.ts"
import { notice } from "../../documents/warnings.ts"
import { type ListChanged, readAgain, readList } from "../../documents/wholeList.ts"
import { failedInTable, makeSavedRecords, type SavedRecord } from "./savedRecords.ts"
import { fieldsOf, type TableSourceOptions } from "./TableSourceOptions.ts"

/** A table and its saved form. */
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

/** The saved records of a table. Each page is read when it is needed. */
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
  const { recordOf, value, warnings } = yield* keyValues(rows, failedInTable(of[0]))
  yield* notice(warnings)
  return { recordOf, value }
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

/** Adds the option with the unknown name to the error. */
const inLinks = <E>(error: E): E | TableError =>
  error instanceof TableError && error.reason === "NotFound"
    ? new TableError({ ...error, detail: `${error.detail}. The option "links" names it` })
    : error

/** The table, its view and its fields. */
export type TableRequest = Omit<PageRequest, "cursor">

/** The records of a table. */
export type Pages = Stream.Stream<ReadonlyArray<TableRecord>, TableError | CursorExpired | ListChanged>

/** Why a table cannot be read or saved. */
export type ReadError = TableError | CursorExpired | ListChanged | SourceError

/** How often a list that the server forgot is read again. */
const maxRestarts = 3

/** Far more records than a table of the hosted API can have. */
const maxRecords = 1_000_000

/**
 * Reads again from the beginning if the server has forgotten the list, or the list has changed. The result of the
 * first try must be thrown away.
 */
export const withRestarts =
  (table: string) =>
  <A, E, R>(read: Effect.Effect<A, E, R>): Effect.Effect<A, E | TableError, R> => {
    const attempt = (restarts: number): Effect.Effect<A, E | TableError, R> =>
      Effect.catchAll(readAgain(read), (error): Effect.Effect<A, E | TableError, R> => {
        if (!(error instanceof CursorExpired)) return Effect.fail(error)
        return restarts === 0
          ? Effect.fail(
              unexpected(table, `the server forgot the list ${maxRestarts + 1} times before its end`)
            )
          : Effect.zipRight(
              Effect.logWarning(`${error.message} It is read again from its beginning`),
              attempt(restarts - 1)
            )
      })
    return attempt(maxRestarts)
  }

interface Position {
  readonly cursor: Option.Option<string>
  /** How many records came before it. */
  readonly read: number
}

/** Requests the pages of a table. */
export const pagesOf = (client: typeof TableSourceClient.Service, request: TableRequest): Pages => {
  const { table } = request

  const ask = Effect.fnUntraced(function* ({ cursor, read }: Position) {
    const page = yield* client.listPage({ ...request, cursor: Option.getOrUndefined(cursor) })
    const next = { cursor: Option.fromNullable(page.next), read: read + page.records.length }
    if (next.read > maxRecords) {
      return yield* unexpected(table, `the list does not end: it has more than ${maxRecords} records`)
    }
    return { items: page.records, next: Option.as(next.cursor, next) }
  })

  return readList<Position, TableRecord, TableError | CursorExpired>({
    name: `Table "${table}"`,
    first: { cursor: Option.none(), read: 0 },
    ask,
    placeOf: ({ cursor }) => Option.getOrElse(cursor, () => ""),
    idOf: ({ id }) => Option.some(id),
    mistake: (detail) => unexpected(table, detail),
    firstAgain: "the pages form a circle: this is page 1 again"
  })
}

const unexpected = (table: string, detail: string) =>
  new TableError({ table, reason: "UnexpectedAnswer", detail })
