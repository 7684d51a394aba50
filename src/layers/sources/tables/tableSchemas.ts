/**
 * What is known of the tables of a source before they are fetched.
 */
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import type { DocumentSchema } from "../../../services/ContentSource.ts"
import type { AttachmentFormat } from "../../../services/TableSourceClient.ts"
import type { FieldSchema, TableExpectation } from "../../documents/expect/ExpectOptions.ts"
import { expectedSchema } from "../../documents/expect/fieldTypes.ts"
import { localPathField } from "./Attachments.ts"
import { savedName } from "./SavedRecords.ts"
import type { TableSourceOptions } from "./TableOptions.ts"
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
