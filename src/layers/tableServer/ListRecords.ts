/**
 * One page of a listing.
 */
import * as Either from "effect/Either"
import { type ApiError, invalidTableFile, unknownField, unknownView } from "./ApiError.ts"
import type { ListQuery } from "./ListQuery.ts"
import { sortRecords } from "./sortRecords.ts"
import type { ServedRecord, Table } from "./Table.ts"
import { applyView, fieldsOf, findView, type Views, viewsOf } from "./Views.ts"

export interface RecordPage {
  readonly records: ReadonlyArray<ServedRecord>
  /** The index where the next page begins; absent on the last page. */
  readonly next?: number
}

/** The records of a table that a query asks for, from an index on. */
export const listPage = (
  table: Table,
  views: Views,
  query: ListQuery,
  index: number
): Either.Either<RecordPage, ApiError> =>
  Either.gen(function* () {
    yield* checkFields(table, query)
    const shown = yield* viewed(table, views, query)
    const ordered = sortRecords(query.sort, shown)
    const total = Math.min(ordered.length, query.maxRecords)
    const end = Math.min(index + query.pageSize, total)
    const records = ordered.slice(index, end).map((record) => withFields(record, query.fields))
    return end < total ? { records, next: end } : { records }
  })

const checkFields = ({ fieldNames }: Table, { fields = [], sort }: ListQuery) => {
  const unknown = [...fields, ...sort.map(({ field }) => field)].find((field) => !fieldNames.includes(field))
  return unknown === undefined ? Either.void : Either.left(unknownField(unknown, fieldNames))
}

const viewed = (
  table: Table,
  views: Views,
  query: ListQuery
): Either.Either<ReadonlyArray<ServedRecord>, ApiError> => {
  if (query.view === undefined) {
    return Either.right(table.records)
  }
  const known = viewsOf(views, table.name)
  const view = findView(known, table.name, query.view)
  if (view === undefined) {
    return Either.left(unknownView(query.view, [...known.keys()]))
  }
  const missing = fieldsOf(view).find((field) => !table.fieldNames.includes(field))
  return missing === undefined
    ? Either.right(applyView(view, table.records))
    : Either.left(
        invalidTableFile(
          `views.json: the view ${JSON.stringify(query.view)} of the table ${JSON.stringify(table.name)} uses the field ${JSON.stringify(missing)}, which no record has.`
        )
      )
}

const withFields = (record: ServedRecord, fields: ReadonlyArray<string> | undefined): ServedRecord =>
  fields === undefined
    ? record
    : {
        ...record,
        fields: Object.fromEntries(Object.entries(record.fields).filter(([field]) => fields.includes(field)))
      }
