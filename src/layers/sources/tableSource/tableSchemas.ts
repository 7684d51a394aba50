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
import { savedName } from "./SavedRecords.ts"
import type { TableSourceOptions } from "./TableSourceOptions.ts"
import { tablesOf } from "./tableDocuments.ts"

type Options = Pick<TableSourceOptions, "appendLocalAttachmentPaths" | "expect" | "keyValueTables" | "tables">

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
      const found = known.find(({ id, name }) => id === table || name === table)
      return [
        table,
        found === undefined
          ? { holds: "records", schemas }
          : { holds: "records", schemas: [...schemas, ofCells(found)], isComplete: true }
      ]
    })
  )

/** A field may have any name, that of a prototype too. */
const withSavedNames = <A>(fields: Readonly<Record<string, A>>): Readonly<Record<string, A>> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [savedName(name), field]))

/** Any cell may be empty, whatever is in it today. */
const ofCells = ({ fields }: TableSchema): FieldSchema =>
  Schema.partial(Schema.Struct(withSavedNames(fields)))

const ofRecord = Schema.Struct({ id: Schema.String })

/** A column may be saved under another name. */
const asSaved = ({ fields, ...others }: TableExpectation): TableExpectation =>
  fields === undefined || Schema.isSchema(fields) ? others : { ...others, fields: withSavedNames(fields) }
