/**
 * Reading a table from its first page to its last, and again where the server forgets it meanwhile.
 */

import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type { SourceError } from "../../../services/SourceError.ts"
import {
  CursorExpired,
  type PageRequest,
  TableError,
  type TableRecord,
  type TableSourceClient
} from "../../../services/TableSourceClient.ts"
import { type ListChanged, readAgain, readList } from "../../documents/wholeList.ts"

/** Which table, and in which order. */
export type TableRequest = Omit<PageRequest, "cursor">

/** The records of a table. */
export type Pages = Stream.Stream<ReadonlyArray<TableRecord>, TableError | CursorExpired | ListChanged>

/** Why a table cannot be read, or cannot be saved. */
export type ReadError = TableError | CursorExpired | ListChanged | SourceError

/** How often a list that the server forgot is read again. */
const maxRestarts = 3

/** Far more than the hosted API keeps in a table. */
const maxRecords = 1_000_000

/**
 * Reads again from the beginning where the server has forgotten the list, or the list has changed: what was made of the first try must be
 * thrown away.
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
  /** How many records have come before it. */
  readonly read: number
}

/** Asks for the pages of a table. */
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
    firstAgain: "the list goes round in a circle: it is page 1 again"
  })
}

const unexpected = (table: string, detail: string) =>
  new TableError({ table, reason: "UnexpectedAnswer", detail })
