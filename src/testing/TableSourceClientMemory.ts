/**
 * Tables in memory, read page by page: a stand-in for a hosted base, with controls for failures and delays.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import {
  type AttachmentFormat,
  type ChangeFeed,
  CursorExpired,
  type PageRequest,
  type RecordRequest,
  TableError,
  type TableRecord,
  TableSourceClient
} from "../services/TableSourceClient.ts"

/**
 * The options of the tables in memory.
 *
 * @since 0.1.0
 * @category models
 */
export interface TableSourceClientMemoryOptions {
  /** The most records of a page. Default 100. */
  readonly pageSize?: number | undefined
  /** The format of attachments. Default: there are none. */
  readonly attachments?: AttachmentFormat | undefined
  /** Whether the client can be asked for changes. Default: no. */
  readonly changes?: boolean | undefined
}

/**
 * A client of tables in memory, with controls for their records, failures and delays.
 *
 * @since 0.1.0
 * @category models
 */
export interface TableSourceClientMemory {
  readonly client: typeof TableSourceClient.Service

  /** Adds a table, or replaces its records; lists that are being read see the change. */
  readonly setTable: (table: string, records: ReadonlyArray<TableRecord>) => Effect.Effect<void>

  /** Makes the next request fail. Several failures happen in the order of the calls. */
  readonly failNext: (error: TableError) => Effect.Effect<void>

  /** Makes the next question for changes fail; also in order. */
  readonly failNextChanges: (error: TableError) => Effect.Effect<void>

  /**
   * Delays the next request, as for its turn, for a server that recovers, or for the end of a penalty. Also in order.
   */
  readonly delayNext: (duration: Duration.DurationInput) => Effect.Effect<void>

  /** Removes a view, as a rename does. Before, every view exists and has the whole table. */
  readonly removeView: (view: string) => Effect.Effect<void>

  /** Forgets all lists that are being read: their next page fails with `CursorExpired`. */
  readonly expireCursors: Effect.Effect<void>

  /** All requests so far, including failed ones. */
  readonly requests: Effect.Effect<ReadonlyArray<PageRequest | RecordRequest>>
}

/**
 * A client without tables.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = ({
  attachments,
  changes = false,
  pageSize = 100
}: TableSourceClientMemoryOptions = {}): Effect.Effect<TableSourceClientMemory> =>
  Effect.sync(() => {
    const tables = new Map<string, ReadonlyArray<TableRecord>>()
    const starts = new Map<string, number>()
    const failures: Array<TableError> = []
    const delays: Array<Duration.DurationInput> = []
    const removedViews = new Set<string>()
    const requests: Array<PageRequest | RecordRequest> = []
    let edits = 0
    const changeFailures: Array<TableError> = []
    let cursors = 0

    const cursorAt = (start: number): string => {
      const cursor = `cursor/${cursors++}`
      starts.set(cursor, start)
      return cursor
    }

    const recordsFor = Effect.fnUntraced(function* (request: PageRequest | RecordRequest) {
      requests.push(request)
      yield* Effect.sleep(delays.shift() ?? 0)
      yield* Option.fromNullable(failures.shift()).pipe(
        Option.match({ onNone: () => Effect.void, onSome: Effect.fail })
      )
      return tables.get(request.table) ?? (yield* notFound(request.table, "there is no such table"))
    })

    const listPage = Effect.fn("TableSourceClient.listPage")(function* (request: PageRequest) {
      const { cursor, fields, table, view } = request
      const records = yield* recordsFor(request)
      if (view !== null && removedViews.has(view)) {
        return yield* notFound(table, `there is no view ${JSON.stringify(view)}`)
      }
      const unknown = fields?.find((field) => !records.some((record) => Object.hasOwn(record.fields, field)))
      if (unknown !== undefined && records.length > 0) {
        return yield* notFound(table, `there is no field ${JSON.stringify(unknown)}`)
      }
      const start = cursor === undefined ? 0 : starts.get(cursor)
      if (start === undefined) {
        return yield* new CursorExpired({ table })
      }
      const end = start + pageSize
      const page = { records: records.slice(start, end).map((record) => withFields(record, fields)) }
      return end < records.length ? { ...page, next: cursorAt(end) } : page
    })

    const readRecord = Effect.fn("TableSourceClient.readRecord")(function* (request: RecordRequest) {
      const { recordId, table } = request
      const records = yield* recordsFor(request)
      return (
        records.find(({ id }) => id === recordId) ??
        (yield* notFound(table, `there is no record ${recordId}`))
      )
    })

    const since: ChangeFeed["since"] = (position) =>
      Effect.suspend(() => {
        const failure = changeFailures.shift()
        return failure === undefined
          ? Effect.succeed({
              position: String(edits),
              changed: Option.contains(position, String(edits)) ? "nothing" : "everything"
            })
          : Effect.fail(failure)
      })

    return {
      client: TableSourceClient.of({
        changes: changes ? { since, end: () => Effect.void } : undefined,
        listPage,
        readRecord,
        attachments
      }),
      setTable: (table, records) =>
        Effect.sync(() => {
          tables.set(table, records)
          edits++
        }),
      failNextChanges: (error) => Effect.sync(() => changeFailures.push(error)),
      failNext: (error) => Effect.sync(() => failures.push(error)),
      delayNext: (duration) => Effect.sync(() => delays.push(duration)),
      removeView: (view) => Effect.sync(() => removedViews.add(view)),
      expireCursors: Effect.sync(() => starts.clear()),
      requests: Effect.sync(() => [...requests])
    }
  })

/**
 * A layer with these tables by name, without the controls.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  tables: Readonly<Record<string, ReadonlyArray<TableRecord>>>,
  options?: TableSourceClientMemoryOptions
): Layer.Layer<TableSourceClient> =>
  Layer.effect(
    TableSourceClient,
    Effect.gen(function* () {
      const { client, setTable } = yield* make(options)
      yield* Effect.forEach(Object.entries(tables), ([table, records]) => setTable(table, records))
      return client
    })
  )

const notFound = (table: string, detail: string) => new TableError({ table, reason: "NotFound", detail })

/** `Object.fromEntries`, because a field may be called `__proto__`. */
const withFields = ({ fields, id }: TableRecord, names: ReadonlyArray<string> | undefined): TableRecord => ({
  id,
  fields:
    names === undefined
      ? fields
      : Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)))
})
