/**
 * The expectations of a user about tables, as options; `ExpectConfig.ts` describes them.
 */
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { documentName, expects, omittable } from "../../../internal/Options.ts"
import type * as Config from "./ExpectConfig.ts"
import { fieldTypes, isFieldType } from "./fieldTypes.ts"

/** A schema that needs no services; its decoding must be synchronous. */
export type FieldSchema = Schema.Schema.AnyNoContext

/** The expectations about a table, also with schemas of Effect. */
export type TableExpectation = Config.TableExpectation<FieldSchema>

type Fields = NonNullable<TableExpectation["fields"]>

/** Its members are checked one by one, so that each mistake has its place. */
const isFields = (input: unknown): input is Fields => Schema.isSchema(input) || Predicate.isRecord(input)

const isExpectation = (input: unknown): boolean => Schema.isSchema(input) || isFieldType(input)

const fields = expects(Schema.declare(isFields), "an object with a type for each field, or a schema").pipe(
  Schema.filter((fields) =>
    Schema.isSchema(fields)
      ? []
      : Object.keys(Record.filter(fields, Predicate.not(isExpectation))).map((name) => ({
          path: [name],
          message: `expected ${fieldTypes.join(", ")}, one of these with "?" behind it, or a schema`
        }))
  )
)

const share = expects(
  Schema.Number.pipe(Schema.between(0, 1)),
  "a number from 0 to 1, the share of the records"
)

const TableExpectation = expects(
  Schema.Struct({
    fields: omittable(fields),
    minRecords: omittable(expects(Schema.Int.pipe(Schema.nonNegative()), "an integer from 0 (records)")),
    leaveOut: omittable(share),
    maxVanishing: omittable(share)
  }),
  'an object with "fields", "minRecords", "leaveOut" or "maxVanishing"'
)

export const ExpectOptions = expects(
  Schema.Record({ key: documentName, value: TableExpectation }),
  "an object with what is expected of each table"
)
