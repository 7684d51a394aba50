/**
 * What is known of the tables of a source before they are fetched.
 */
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import type { DocumentSchema } from "../../../services/ContentSource.ts"
import type { AttachmentFormat, TableSchema } from "../../../services/TableSourceClient.ts"
import type { FieldSchema, TableExpectation } from "../../documents/expect/ExpectOptions.ts"
import { expectedSchema } from "../../documents/expect/fieldTypes.ts"
import { localPathField } from "./Attachments.ts"
import { fieldsOf, linksFrom } from "./linkOptions.ts"
import { savedName } from "./SavedRecords.ts"
import type { TableSourceOptions } from "./TableSourceOptions.ts"
import { tablesOf } from "./tableDocuments.ts"

type Options = Pick<
  TableSourceOptions,
  "appendLocalAttachmentPaths" | "expect" | "fields" | "keyValueTables" | "links" | "tables"
>

/** What a saved attachment has, as far as pages may rely on it. */
export const attachmentSchema = (
  { appendLocalAttachmentPaths }: Pick<Options, "appendLocalAttachmentPaths">,
  format: AttachmentFormat | undefined
): FieldSchema =>
  appendLocalAttachmentPaths
    ? Schema.Struct({ ...format?.fields, [localPathField]: Schema.String })
    : Schema.Struct({ ...format?.fields })

/** Schemas of all tables of the options, by their names; `known` are tables of the base, as far as it says. */
export const tableSchemas = (
  options: Options,
  attachment: FieldSchema,
  known: ReadonlyArray<TableSchema> = []
): Readonly<Record<string, DocumentSchema>> =>
  Object.fromEntries(
    tablesOf(options).map(({ holds, table }): [string, DocumentSchema] => {
      const expectation = Option.getOrElse(Record.get(options.expect, table), () => ({}))
      if (holds === "keys") {
        return [
          table,
          { holds: "value", schemas: [expectedSchema(expectation, { attachment, emptyCells: "null" })] }
        ]
      }
      const schemas = [ofRecord, expectedSchema(asSaved(expectation), { attachment, emptyCells: "left out" })]
      const cells = cellsOf(options, known, table)
      return [
        table,
        Option.match(cells, {
          onNone: () => ({ holds: "records", schemas }),
          onSome: (cells) => ({
            holds: "records",
            schemas: [...schemas, ofCells({ ...cells, ...linkedCells(options, known, table) })],
            isComplete: true
          })
        })
      ]
    })
  )

/** A field may have any name, that of a prototype too. */
const withSavedNames = <A>(fields: Readonly<Record<string, A>>): Readonly<Record<string, A>> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [savedName(name), field]))

type Cells = TableSchema["fields"]

/** Any cell may be empty, whatever is in it today. */
const ofCells = (cells: Cells) => Schema.partial(Schema.Struct(withSavedNames(cells)))

/** The fields of a table that are read. */
const cellsOf = (options: Options, known: ReadonlyArray<TableSchema>, table: string): Option.Option<Cells> =>
  Option.map(
    Option.fromNullable(known.find(({ id, name }) => id === table || name === table)),
    ({ fields }) =>
      Option.match(fieldsOf(options, table), {
        onNone: () => fields,
        onSome: (names) => Record.filter(fields, (_, name) => names.includes(name))
      })
  )

/** The fields of a table with linked records. */
const linkedCells = (options: Options, known: ReadonlyArray<TableSchema>, table: string): Cells =>
  Object.fromEntries(
    linksFrom(options, table).map(({ field, target }) => [
      field,
      Schema.Array(
        Schema.extend(ofRecord, ofCells(Option.getOrElse(cellsOf(options, known, target), () => ({}))))
      )
    ])
  )

const ofRecord = Schema.Struct({ id: Schema.String })

/** A column may be saved under another name. */
const asSaved = ({ fields, ...others }: TableExpectation): TableExpectation =>
  fields === undefined || Schema.isSchema(fields) ? others : { ...others, fields: withSavedNames(fields) }
