/**
 * One page of a listing, and the offset that leads to the next.
 */
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import {
  type ApiError,
  invalidTableFile,
  iteratorNotAvailable,
  unknownField,
  unknownView
} from "./ApiError.ts"
import { fieldId } from "./identifiers.ts"
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
    const fields = yield* namesOf(table, query.fields)
    const sortFields = yield* namesOf(
      table,
      query.sort.map(({ field }) => field)
    )
    const sort = Arr.zipWith(query.sort, sortFields, (key, field) => ({ ...key, field }))
    const shown = yield* viewed(table, views, query)
    const ordered = sortRecords(sort, shown)
    const total = Math.min(ordered.length, query.maxRecords)
    const end = Math.min(index + query.pageSize, total)
    const records = ordered.slice(index, end).map((record) => withFields(record, fields))
    return end < total ? { records, next: end } : { records }
  })

/** The names of fields that are given by name or id. */
const namesOf = (
  { fieldNames, name }: Table,
  namesOrIds: ReadonlyArray<string>
): Either.Either<ReadonlyArray<string>, ApiError> =>
  Either.all(
    namesOrIds.map((given) =>
      Either.fromNullable(
        fieldNames.find((field) => field === given) ??
          fieldNames.find((field) => fieldId(name, field) === given),
        () => unknownField(given, fieldNames)
      )
    )
  )

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

const withFields = (record: ServedRecord, fields: ReadonlyArray<string>): ServedRecord =>
  fields.length === 0
    ? record
    : {
        ...record,
        fields: Object.fromEntries(Object.entries(record.fields).filter(([field]) => fields.includes(field)))
      }

/** The records with the ids of their fields in place of the names. */
export const withFieldIds = (
  { fieldNames, name }: Table,
  records: ReadonlyArray<ServedRecord>
): ReadonlyArray<ServedRecord> => {
  const ids = new Map(fieldNames.map((field) => [field, fieldId(name, field)]))
  return records.map((record) => ({
    ...record,
    fields: Object.fromEntries(
      Object.entries(record.fields).map(([field, cell]) => [ids.get(field) ?? field, cell])
    )
  }))
}

/** It carries all there is to know, so that the server remembers nothing of listings. */
export interface ListOffset {
  /** The server process that issued it; letters and digits. */
  readonly issuer: string
  /** The table that is listed; letters and digits. */
  readonly tableId: string
  /** Milliseconds since 1970. */
  readonly issuedAt: number
  /** How many records of the listing came before. */
  readonly index: number
}

/** How long an offset is good for. */
export const offsetLifetimeMs = 5 * 60 * 1000

/** To clients it is opaque; it holds characters that break a client which does not encode it. */
export const encodeOffset = ({ index, issuedAt, issuer, tableId }: ListOffset): string =>
  `itr${issuer}/${tableId}+${issuedAt.toString(36)}&${index.toString(36)}=`

/** The index where the page begins; an error where the offset is another server's or table's, or too old. */
export const decodeOffset = (
  text: string,
  now: Omit<ListOffset, "index">
): Either.Either<number, ApiError> => {
  const [, issuer, tableId, issuedAt = "", index = ""] = form.exec(text) ?? []
  const age = now.issuedAt - Number.parseInt(issuedAt, 36)
  return issuer === now.issuer && tableId === now.tableId && age <= offsetLifetimeMs
    ? Either.right(Number.parseInt(index, 36))
    : Either.left(iteratorNotAvailable)
}

const form = /^itr([a-zA-Z0-9]+)\/([a-zA-Z0-9]+)\+([a-z0-9]{1,10})&([a-z0-9]{1,10})=$/
