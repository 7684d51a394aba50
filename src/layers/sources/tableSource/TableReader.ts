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
  TableSourceClient
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

/**
 * Gives the pages of a table to `use`, and starts again if the server forgets the list: `use`
 * is then run again, with a fresh stream, and must throw away what it made of the first.
 */
export const readTable = <A, E, R>(
  request: TableRequest,
  use: (pages: Pages) => Effect.Effect<A, E | CursorExpired, R>
): Effect.Effect<A, E | TableError, R | TableSourceClient> =>
  Effect.flatMap(TableSourceClient, (client) => {
    const attempt = (restarts: number): Effect.Effect<A, E | TableError, R> =>
      Effect.catchIf(use(pages(client, request)), isExpired, ({ message }) =>
        restarts === 0
          ? Effect.fail(forgetful(request.table))
          : Effect.logWarning(`${message} It is read again from its beginning`).pipe(
              Effect.zipRight(attempt(restarts - 1))
            )
      )
    return attempt(maxRestarts)
  })

const isExpired = (error: unknown): error is CursorExpired => error instanceof CursorExpired

const pages = (client: typeof TableSourceClient.Service, request: TableRequest): Pages =>
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
