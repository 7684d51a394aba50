/**
 * Reading a table from its first page to its last.
 *
 * It owns what may go wrong between pages: records that come twice, lists that go round in a circle, and lists
 * that the server forgets. It never holds more than one page and the ids of what was read.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import {
  CursorExpired,
  type PageRequest,
  TableError,
  type TableRecord,
  type TableSourceClient
} from "../../../services/TableSourceClient.ts"

/** Which table, and in which order. */
export type TableRequest = Omit<PageRequest, "cursor">

/** The records of a table that the pages before did not have. */
export type Pages = Stream.Stream<ReadonlyArray<TableRecord>, TableError | CursorExpired>

/** How often a list that the server forgot is read again. */
const maxRestarts = 3

/** A list that brings nothing new for so many pages does not end. */
const maxStalePages = 100

/** Far more than the hosted API keeps in a table, and as many pages as it would give for them. */
const maxRecords = 1_000_000
const maxPages = 10_000

/** Reads again from the beginning where the server has forgotten the list: what was made of the first try must be thrown away. */
export const withRestarts =
  (table: string) =>
  <A, E, R>(read: Effect.Effect<A, E, R>): Effect.Effect<A, E | TableError, R> => {
    const attempt = (restarts: number): Effect.Effect<A, E | TableError, R> =>
      Effect.catchAll(read, (error): Effect.Effect<A, E | TableError, R> => {
        if (!(error instanceof CursorExpired)) return Effect.fail(error)
        return restarts === 0
          ? Effect.fail(forgetful(table))
          : Effect.zipRight(
              Effect.logWarning(`${error.message} It is read again from its beginning`),
              attempt(restarts - 1)
            )
      })
    return attempt(maxRestarts)
  }

/** Asks for the pages of a table. */
export const pagesOf = (client: typeof TableSourceClient.Service, request: TableRequest): Pages =>
  Stream.suspend(() => {
    const ids = new Set<string>()
    const cursors = new Set<string>()
    let stalePages = 0
    return Stream.paginateEffect(Option.none<string>(), (cursor) =>
      Effect.gen(function* () {
        const page = yield* client.listPage({ ...request, ...Option.match(cursor, cursorField) })
        const records = page.records.filter(({ id }) => !ids.has(id) && ids.add(id))
        if (ids.size > maxRecords) {
          return yield* tooLong(request.table, `it has more than ${maxRecords} records`)
        }
        stalePages = records.length === 0 ? stalePages + 1 : 0
        if (page.next === undefined) {
          return [records, Option.none()] as const
        }
        if (cursors.has(page.next) || stalePages > maxStalePages) {
          return yield* endless(request.table)
        }
        cursors.add(page.next)
        if (cursors.size >= maxPages) {
          return yield* tooLong(request.table, `after ${maxPages} pages the server offers more`)
        }
        return [records, Option.some(Option.some(page.next))] as const
      })
    )
  })

const cursorField = { onNone: () => ({}), onSome: (cursor: string) => ({ cursor }) }

const forgetful = (table: string) =>
  new TableError({
    table,
    reason: "UnexpectedAnswer",
    detail: `the server forgot the list ${maxRestarts + 1} times before its end`
  })

const endless = (table: string) =>
  new TableError({
    table,
    reason: "UnexpectedAnswer",
    detail: "the list goes round in a circle: the server offers the same pages again and again"
  })

const tooLong = (table: string, why: string) =>
  new TableError({ table, reason: "UnexpectedAnswer", detail: `the list does not end: ${why}` })
