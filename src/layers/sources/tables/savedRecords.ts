/**
 * The records of a table in their saved form, for files and for callers, and the schemas of saved tables before a
 * fetch.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import type { DocumentSchema } from "../../../services/ContentSource.ts"
import type { AttachmentFormat, TableRecord } from "../../../services/TableSourceClient.ts"
import { failedIn } from "../../documents/Document.ts"
import type { FieldSchema, TableExpectation } from "../../documents/expect/ExpectOptions.ts"
import { expectedSchema } from "../../documents/expect/ExpectOptions.ts"
import { fill } from "../../documents/jsonValues.ts"
import { nameWarnings } from "../../documents/textMistakes.ts"
import { localPathField } from "./Attachments.ts"
import type { TableSourceOptions } from "./TableSourceOptions.ts"
import { tablesOf } from "./tableDocuments.ts"

/** A record in its saved form. */
export type SavedRecord = Readonly<Record<string, unknown>>

export const makeSavedRecords = (table: string) => {
  const columns = new Set<string>()
  const savedRecord = makeSavedRecord()

  const form = (record: TableRecord) => {
    for (const column of ["id", idColumn]) {
      if (Object.hasOwn(record.fields, column)) columns.add(column)
    }
    for (const column of Object.keys(record.fields)) {
      if (columns.size < maxColumns) columns.add(column)
    }
    return savedRecord(record)
  }

  return {
    /** The saved form of the next records. Fails if two columns would be saved as one. */
    add: (records: ReadonlyArray<TableRecord>) =>
      Effect.filterOrFail(
        Effect.sync(() => records.map(form)),
        () => !(columns.has("id") && columns.has(idColumn)),
        () =>
          failedInTable(table)(
            `the columns "id" and "${idColumn}" would both be saved as "${idColumn}"; rename one of them`
          )
      ),

    /** Warnings about records that are saved in an unexpected form. */
    warnings: (): ReadonlyArray<string> => [
      ...(columns.has("id")
        ? [`the column "id" is saved as "${idColumn}", because "id" is the record's own`]
        : []),
      ...nameWarnings("column", [...columns])
    ]
  }
}

/** Makes errors about a table. */
export const failedInTable = (table: string) => failedIn({ document: table, kind: "table" })

/** The most names of columns that are checked. */
const maxColumns = 1000

/** The saved name of a column `id`, because `id` is the record's own. */
const idColumn = "id_"

/** The saved name of a column. */
export const savedName = (column: string): string => (column === "id" ? idColumn : column)

/** The fields of a saved record, by the names of their columns. */
export const columnsOf = ({ id: _, ...fields }: SavedRecord): SavedRecord => {
  const { [idColumn]: column, ...others } = fields
  return column === undefined ? fields : { ...others, id: column }
}

/** Brings the records of one table into their saved form: the id, then the fields. */
export const makeSavedRecord = (): ((record: TableRecord) => SavedRecord) => {
  const sort = makeSort()
  return ({ fields, id }) => {
    const cells = Object.hasOwn(fields, "id") ? renamed(fields) : fields
    return fill({ id }, cells, sort(Object.keys(cells)))
  }
}

type Fields = TableRecord["fields"]

/** Sorts names. Keeps the last order, because the records of a table mostly have the same names. */
const makeSort = () => {
  let latest: ReadonlyArray<string> = []
  let inOrder: ReadonlyArray<string> = []
  return (names: ReadonlyArray<string>) => {
    if (names.length !== latest.length || names.some((name, index) => name !== latest[index])) {
      latest = names
      inOrder = [...names].sort()
    }
    return inOrder
  }
}

const renamed = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, cell]) => [savedName(name), cell]))

type Options = Pick<TableSourceOptions, "appendLocalAttachmentPaths" | "expect" | "keyValueTables" | "tables">

/** The fields of a saved attachment that pages may rely on. */
export const attachmentSchema = (
  { appendLocalAttachmentPaths }: Pick<Options, "appendLocalAttachmentPaths">,
  format: AttachmentFormat | undefined
): FieldSchema =>
  appendLocalAttachmentPaths
    ? Schema.Struct({ ...format?.fields, [localPathField]: Schema.String })
    : Schema.Struct({ ...format?.fields })

/** The expectations of the tables of the options as they are saved, by their names. */
export const tableSchemas = (
  options: Options,
  attachment: FieldSchema
): Readonly<Record<string, DocumentSchema>> =>
  Object.fromEntries(
    tablesOf(options).map(({ holds, table }): [string, DocumentSchema] => {
      const expectation = Option.getOrElse(Record.get(options.expect, table), () => ({}))
      return holds === "keys"
        ? [
            table,
            { holds: "value", schemas: [expectedSchema(expectation, { attachment, emptyCells: "null" })] }
          ]
        : [
            table,
            {
              holds: "records",
              schemas: [
                ofRecord,
                expectedSchema(asSaved(expectation), { attachment, emptyCells: "left out" })
              ]
            }
          ]
    })
  )

const ofRecord = Schema.Struct({ id: Schema.String })

/** A column may be saved under another name. */
const asSaved = ({ fields, ...others }: TableExpectation): TableExpectation =>
  fields === undefined || Schema.isSchema(fields)
    ? others
    : {
        ...others,
        fields: Object.fromEntries(Object.entries(fields).map(([name, field]) => [savedName(name), field]))
      }
