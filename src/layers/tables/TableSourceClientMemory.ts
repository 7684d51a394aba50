/**
 * Tables in memory, read page by page: a stand-in for a hosted base, with controls for what can go wrong.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import {
  CursorExpired,
  type PageRequest,
  TableError,
  type TableRecord,
  TableSourceClient
} from "../../services/TableSourceClient.ts"

export interface TableSourceClientMemoryOptions {
  /** How many records a page has at most. Default 100. */
  readonly pageSize?: number
}

export interface TableSourceClientMemory {
  readonly client: typeof TableSourceClient.Service

  /** Adds a table, or replaces its records; lists that are being read see the change. */
  readonly setTable: (table: string, records: ReadonlyArray<TableRecord>) => Effect.Effect<void>

  /** Lets the next request fail. Several failures are met in the order they were given. */
  readonly failNext: (error: TableError) => Effect.Effect<void>

  /** Forgets all lists that are being read: their next page fails with `CursorExpired`. */
  readonly expireCursors: Effect.Effect<void>

  /** All requests so far, the failed ones included. */
  readonly requests: Effect.Effect<ReadonlyArray<PageRequest>>
}

export const make = ({
  pageSize = 100
}: TableSourceClientMemoryOptions = {}): Effect.Effect<TableSourceClientMemory> =>
  Effect.sync(() => {
    const tables = new Map<string, ReadonlyArray<TableRecord>>()
    const starts = new Map<string, number>()
    const failures: Array<TableError> = []
    const requests: Array<PageRequest> = []
    let cursors = 0

    const cursorAt = (start: number): string => {
      const cursor = `cursor/${cursors++}`
      starts.set(cursor, start)
      return cursor
    }

    const listPage = Effect.fn("TableSourceClient.listPage")(function* (request: PageRequest) {
      requests.push(request)
      const { cursor, table } = request
      yield* Option.fromNullable(failures.shift()).pipe(
        Option.match({ onNone: () => Effect.void, onSome: Effect.fail })
      )
      const records = tables.get(table)
      if (records === undefined) {
        return yield* new TableError({ table, reason: "NotFound", detail: "there is no such table" })
      }
      const start = cursor === undefined ? 0 : starts.get(cursor)
      if (start === undefined) {
        return yield* new CursorExpired({ table })
      }
      const end = start + pageSize
      const page = { records: records.slice(start, end) }
      return end < records.length ? { ...page, next: cursorAt(end) } : page
    })

    return {
      client: TableSourceClient.of({ listPage }),
      setTable: (table, records) => Effect.sync(() => tables.set(table, records)),
      failNext: (error) => Effect.sync(() => failures.push(error)),
      expireCursors: Effect.sync(() => starts.clear()),
      requests: Effect.sync(() => [...requests])
    }
  })
