/**
 * Records in the place of their ids: the tables that fields link to, each read once for a fetch and held in memory.
 */
import * as Array from "effect/Array"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { partsOf } from "../../../internal/partsOf.ts"
import { excerpt } from "../../../internal/printable.ts"
import { countText } from "../../../internal/readable.ts"
import { TableError, type TableRecord, type TableSourceClient } from "../../../services/TableSourceClient.ts"
import { fieldsOf, type Link, linkedTables, linksFrom } from "./linkOptions.ts"
import { makeSavedRecord, makeSavedRecords, tableNotSaved } from "./SavedRecords.ts"
import { pagesOf, type ReadError, withRestarts } from "./TableReader.ts"
import type { TableSourceOptions } from "./TableSourceOptions.ts"

type Options = Pick<TableSourceOptions, "defaultView" | "fields" | "links" | "tables">

/** Where a linked record is, and where it came up. */
export interface LinkedFrom {
  /** The table that it is in. */
  readonly table: string
  /** The record that links to it, and the field there. */
  readonly recordId: string
  readonly field: string
}

/** Changes a record, one that was linked from another as well. */
export type ChangeRecord = (record: TableRecord, from?: LinkedFrom) => TableRecord

/** The tables of one fetch. */
export interface LinkedTables {
  /** The records of a table, out of memory where they are held. */
  readonly pages: (table: string) => Stream.Stream<ReadonlyArray<TableRecord>, ReadError>

  /** What links the records of a table to others. */
  readonly linksOf: (table: string) => LinkedRecords
}

/** The links of a table, whose records come page by page. */
export interface LinkedRecords {
  /** Records with others in the place of ids, and each as `change` makes it. */
  readonly resolve: (
    page: ReadonlyArray<TableRecord>,
    change: ChangeRecord
  ) => Effect.Effect<ReadonlyArray<TableRecord>, ReadError>

  /** To be run after the last page: fails for a field that no table has. */
  readonly end: Effect.Effect<void, ReadError>

  /** Links that lead nowhere. */
  readonly warnings: () => ReadonlyArray<string>
}

/** For one fetch. */
export const makeLinkedTables = Effect.fnUntraced(function* (
  options: Options,
  client: typeof TableSourceClient.Service
): Effect.fn.Return<LinkedTables> {
  const { defaultView: view } = options

  const pages = (table: string) =>
    pagesOf(client, {
      table,
      view,
      fields: Option.getOrUndefined(fieldsOf(options, table))
    })

  const hold = (table: string) =>
    Stream.runCollect(Stream.tap(pages(table), makeSavedRecords(table).add)).pipe(
      Effect.map(
        (pages) => new Map(Array.flatten(Chunk.toArray(pages)).map((record) => [record.id, record]))
      ),
      withRestarts(table),
      Effect.mapError(inLinks),
      Effect.cached,
      Effect.map((records) => [table, records] as const)
    )
  const held = new Map(yield* Effect.forEach(linkedTables(options), hold))

  /** The tables that have been read, by names of fields that no record there has. */
  const absent = new Map<string, Set<string>>()

  /** An empty cell is left out, as a field that does not exist: the API tells them apart. */
  const requireField = (field: string, among: ReadonlyArray<string>) =>
    Effect.firstSuccessOf(among.map((table) => client.listPage({ table, view, fields: [field] }))).pipe(
      Effect.mapError(inLinks),
      Effect.asVoid
    )

  return {
    pages: (table) => {
      const records = held.get(table)
      return records === undefined
        ? pages(table)
        : Stream.unwrap(
            Effect.map(records, (records) => Stream.fromIterable(partsOf([...records.values()], pageSize)))
          )
    },

    linksOf: (table) => {
      const links = linksFrom(options, table)
      const savedRecord = makeSavedRecord()
      const seen = new Set<string>()
      const lost: Array<{ readonly field: string; readonly link: string }> = []

      const resolveIn = Effect.fnUntraced(function* (
        { fields, id: recordId }: TableRecord,
        { field, target }: Link,
        change: ChangeRecord
      ) {
        const cell = fields[field]
        if (!isLinks(cell)) {
          return yield* tableNotSaved(
            table,
            `record ${excerpt(recordId)} has no links to records in the field ${JSON.stringify(field)}, which "links" names`
          )
        }
        seen.add(field)
        const records = yield* held.get(target) ?? noRecords
        const found = Array.filterMap(cell, (id) => {
          const record = records.get(id)
          if (record === undefined) lost.push({ field, link: `${excerpt(recordId)} to ${excerpt(id)}` })
          return Option.map(Option.fromNullable(record), (record) =>
            savedRecord(change(record, { table: target, recordId, field }))
          )
        })
        const { [field]: _, ...others } = fields
        return { id: recordId, fields: found.length === 0 ? others : { ...others, [field]: found } }
      })

      const resolve = (record: TableRecord, change: ChangeRecord) =>
        Effect.reduce(
          links.filter(({ field }) => Object.hasOwn(record.fields, field)),
          change(record),
          (record, link) => resolveIn(record, link, change)
        )

      return {
        resolve: (page, change) =>
          links.length === 0
            ? Effect.sync(() => page.map((record) => change(record)))
            : Effect.forEach(page, (record) => resolve(record, change)),

        end: Effect.suspend(() =>
          Effect.forEach(
            links.filter(({ field }) => !seen.has(field)),
            ({ among, field }) => {
              const tables = (absent.get(field) ?? new Set()).add(table)
              absent.set(field, tables)
              return Effect.when(requireField(field, among), () => tables.size >= among.length)
            },
            { discard: true }
          )
        ),

        warnings: () =>
          links.flatMap(({ field, target }) => {
            const all = lost.filter((one) => one.field === field)
            if (all.length === 0) return []
            const named = all.slice(0, maxNamed).map(({ link }) => link)
            const where = view === null ? "" : ` in its view ${JSON.stringify(view)}`
            return [
              `the field ${JSON.stringify(field)} has ${countText(all.length, "link")} to records that the table ${JSON.stringify(target)} does not have${where}; left out (${[...named, ...(all.length > maxNamed ? ["…"] : [])].join(", ")})`
            ]
          })
      }
    }
  }
})

const isLinks = (cell: unknown): cell is ReadonlyArray<string> =>
  Array.isArray(cell) && cell.every(Predicate.isString)

const noRecords = Effect.succeed<ReadonlyMap<string, TableRecord>>(new Map())

/** How many records of a held table are handed over at once. */
const pageSize = 100

/** How many links that lead nowhere are named in a warning. */
const maxNamed = 5

/** Says which option has the name that the API does not know. */
const inLinks = <E>(error: E): E | TableError =>
  error instanceof TableError && error.reason === "NotFound"
    ? new TableError({ ...error, detail: `${error.detail}. The option "links" names it` })
    : error
