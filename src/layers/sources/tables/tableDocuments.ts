/**
 * Tables as documents: saved records, page by page, or the object of a key/value table. A table is read from its
 * first page to its last, and again if the server forgets the list. It owns the saved form of records, and the schemas
 * of saved tables before a fetch.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { DocumentSchema } from "../../../services/ContentSource.ts"
import type { SourceError } from "../../../services/SourceError.ts"
import {
  type AttachmentFormat,
  CursorExpired,
  type PageRequest,
  TableError,
  type TableRecord,
  type TableSourceClient
} from "../../../services/TableSourceClient.ts"
import { type Document, failedIn, Keys, Records } from "../../documents/Document.ts"
import {
  expectedSchema,
  type FieldSchema,
  type TableExpectation
} from "../../documents/expect/ExpectOptions.ts"
import type { CheckedTable } from "../../documents/expect/TableCheck.ts"
import { fill, makeNamesOf } from "../../documents/jsonValues.ts"
import { keyValues } from "../../documents/keyValues.ts"
import { notice, warn } from "../../documents/warnings.ts"
import { ListChanged, readList } from "../../documents/wholeList.ts"
import { localPathField } from "./Attachments.ts"
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

type Client = typeof TableSourceClient.Service
type ReadOptions = Pick<TableSourceOptions, "defaultView" | "fields" | "tables">

/** A table as a document. */
export const tableDocument = (
  { holds, table }: SourceTable,
  options: ReadOptions,
  client: Client
): Document<ReadError> => {
  const pages = pagesOf(client, {
    table,
    view: options.defaultView,
    fields: Option.getOrUndefined(fieldsOf(options, table))
  })
  return {
    name: table,
    isSorted: true,
    content:
      holds === "records"
        ? Records({ pages: savedRecords(table, pages) })
        : Keys({ keys: keysOf(table, pages) })
  }
}

/** A table that others link to. */
export const linkedTable = (table: string, options: ReadOptions, client: Client): Document<ReadError> =>
  tableDocument({ table, holds: "records" }, options, {
    ...client,
    listPage: (request) => Effect.mapError(client.listPage(request), inLinks)
  })

/** Adds the option with the unknown name to the error. */
const inLinks = <E>(error: E): E | TableError =>
  error instanceof TableError && error.reason === "NotFound"
    ? new TableError({ ...error, detail: `${error.detail}. The option "links" names it` })
    : error

const keysOf = Effect.fnUntraced(function* (table: string, pages: Pages) {
  const rows = Chunk.toArray(yield* Stream.runCollect(Stream.flattenIterables(pages)))
  const { recordOf, value, warnings } = yield* Effect.mapError(keyValues(rows), (mistake) =>
    failedInTable(table)(mistake)
  )
  yield* notice(warnings)
  return { recordOf, value }
})

/** The table, its view and its fields. */
export type TableRequest = Omit<PageRequest, "cursor">

/** The records of a table. */
export type Pages = Stream.Stream<ReadonlyArray<TableRecord>, TableError | ListChanged>

/** Why a table cannot be read or saved. */
export type ReadError = TableError | ListChanged | SourceError

/** Requests the pages of a table. Each page is read when it is needed. */
export const pagesOf = (client: Client, request: TableRequest): Pages => {
  const { table } = request
  return readList<string | undefined, TableRecord, TableError | ListChanged>({
    name: `Table "${table}"`,
    first: undefined,
    ask: (cursor) =>
      Effect.mapBoth(client.listPage({ ...request, cursor }), {
        onFailure: (error) => (error instanceof CursorExpired ? forgotten(table) : error),
        onSuccess: ({ next, records }) => ({ items: records, next: Option.fromNullable(next) })
      }),
    placeOf: (cursor = "") => cursor,
    idOf: ({ id }) => Option.some(id),
    mistake: (detail) => unexpected(table, detail),
    firstAgain: "the pages form a circle: this is page 1 again"
  })
}

/** A list that is read again three times. */
const forgotten = (table: string) =>
  new ListChanged({ list: `Table "${table}"`, detail: "the server forgot the list before its end", times: 3 })

const unexpected = (table: string, detail: string) =>
  new TableError({ table, reason: "UnexpectedAnswer", detail })

/** Makes errors about a table. */
export const failedInTable = (table: string) => failedIn({ document: table, kind: "table" })

/** A record in its saved form. */
type SavedRecord = Readonly<Record<string, unknown>>

/** The saved name of a column `id`, because `id` is the record's own. */
const idColumn = "id_"

/**
 * The records of a table in their saved form, with warnings about an unexpected form. Fails if two columns would be
 * saved as one.
 */
export const savedRecords = <E>(
  table: string,
  pages: Stream.Stream<ReadonlyArray<TableRecord>, E>
): Stream.Stream<ReadonlyArray<SavedRecord>, E | SourceError> =>
  Stream.suspend(() => {
    const columns = new Set<string>()
    const savedRecord = makeSavedRecord()

    const form = (record: TableRecord) => {
      for (const column of ["id", idColumn]) {
        if (Object.hasOwn(record.fields, column)) columns.add(column)
      }
      return savedRecord(record)
    }

    const saved = Stream.mapEffect(pages, (records) =>
      Effect.filterOrFail(
        Effect.sync(() => records.map(form)),
        () => !(columns.has("id") && columns.has(idColumn)),
        () =>
          failedInTable(table)(
            `the columns "id" and "${idColumn}" would both be saved as "${idColumn}"; rename one of them`
          )
      )
    )
    const warnings = Effect.suspend(() =>
      notice(columns.has("id") ? [warn("tables:id", "id", { name: idColumn })] : [])
    )
    return Stream.concat(saved, Stream.execute(warnings))
  })

/** By the saved names of columns. */
const renamed = <A>(columns: Readonly<Record<string, A>>): Readonly<Record<string, A>> =>
  Object.fromEntries(Object.entries(columns).map(([name, cell]) => [name === "id" ? idColumn : name, cell]))

/** The fields of a saved record, by the names of their columns. */
export const columnsOf = ({ id: _, ...fields }: SavedRecord): SavedRecord => {
  const { [idColumn]: column, ...others } = fields
  return column === undefined ? fields : { ...others, id: column }
}

/** Brings the records of one table into their saved form: the id, then the fields. */
export const makeSavedRecord = (): ((record: TableRecord) => SavedRecord) => {
  const namesOf = makeNamesOf()
  let latest: ReadonlyArray<string> = []
  let inOrder: ReadonlyArray<string> = []
  let form: SavedRecord | undefined
  return ({ fields, id }) => {
    const cells = Object.hasOwn(fields, "id") ? renamed(fields) : fields
    const names = namesOf(cells)
    if (names === latest) form ??= emptyRecord(inOrder)
    else {
      latest = names
      inOrder = [...names].sort()
      form = undefined
    }
    return fill({ ...form, id }, cells, inOrder)
  }
}

/** A record to copy: an object that gets many names one after the other is slow, and large in memory. */
const emptyRecord = (names: ReadonlyArray<string>): SavedRecord =>
  JSON.parse(`{${["id", ...names].map((name) => `${JSON.stringify(name)}:null`).join()}}`)

/** The expectations of the tables of the options as they are saved, by their names. */
export const tableSchemas = (
  options: Pick<TableSourceOptions, "appendLocalAttachmentPaths" | "expect" | "keyValueTables" | "tables">,
  format: AttachmentFormat | undefined
): Readonly<Record<string, DocumentSchema>> => {
  // The fields of a saved attachment that pages may rely on.
  const attachment: FieldSchema = options.appendLocalAttachmentPaths
    ? Schema.Struct({ ...format?.fields, [localPathField]: Schema.String })
    : Schema.Struct({ ...format?.fields })
  return Object.fromEntries(
    tablesOf(options).map(({ holds, table }): [string, DocumentSchema] => {
      const expectation = Option.getOrElse(Record.get(options.expect, table), () => ({}))
      const schemas =
        holds === "keys"
          ? [expectedSchema(expectation, { attachment, emptyCells: "null" })]
          : [ofRecord, expectedSchema(asSaved(expectation), { attachment, emptyCells: "left out" })]
      return [table, { holds: holds === "keys" ? "value" : "records", schemas }]
    })
  )
}

const ofRecord = Schema.Struct({ id: Schema.String })

/** A column may be saved under another name. */
const asSaved = ({ fields, ...others }: TableExpectation): TableExpectation =>
  fields === undefined || Schema.isSchema(fields) ? others : { ...others, fields: renamed(fields) }
