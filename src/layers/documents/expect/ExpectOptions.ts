/**
 * The expectations of a user about tables, as options; `DocumentConfig.ts` describes them. The types of fields that
 * can be expected without a schema, and the schema of a saved table from its expectations.
 */

import { constFalse } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import type { Expected, Hint } from "../../../internal/mistakeParts.ts"
import { documentName, expects, omittable } from "../../../internal/Options.ts"
import { isDay } from "../../../internal/optionSchemas.ts"
import type * as Config from "../DocumentConfig.ts"
import type { FieldType, FullFieldType } from "../DocumentConfig.ts"
import { isSpreadsheetError } from "../textMistakes.ts"

/**
 * A schema that needs no services; its decoding must be synchronous.
 *
 * @since 0.1.0
 * @category models
 */
export type FieldSchema = Schema.Schema.AnyNoContext

/**
 * The expectations about a table, also with schemas of Effect.
 *
 * @since 0.1.0
 * @category models
 */
export type TableExpectation = Config.TableExpectation<FieldSchema>

/** Whether an item of a cell is an attachment. */
export type IsAttachment = (item: unknown) => boolean

/** Tests of the source that has the cells. */
export interface CellTests {
  readonly isAttachment: IsAttachment
  /** Whether a path belongs to a file of the source. Missing if the source has no files. */
  readonly isFile?: ((path: string) => boolean) | undefined
  /** The path of a file that is similar to a path. */
  readonly similar?: ((path: string) => string | undefined) | undefined
}

/** The schemas that the schemas of types are made from. */
interface Parts {
  readonly attachment: FieldSchema
  /** The path of a file. */
  readonly file: FieldSchema
}

/** A type of cells that are not empty. */
interface Type {
  readonly schema: (parts: Parts) => FieldSchema
  /** The value of a text that is accepted as this type, because the cells of CSV are texts. Default: none is. */
  readonly ofText?: (text: string) => unknown
  /** What people probably meant by a text that is not accepted. */
  readonly meant?: (text: string) => ReadonlyArray<string>
}

const date = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/

const isDate = (text: string): boolean => {
  const [, day = ""] = date.exec(text) ?? []
  return isDay(day) && !Number.isNaN(Date.parse(text))
}

/** `12,5`, `1.250,5`, `1 250`, `12.50`: what it may be, as `12.5`. */
const numbersIn = (text: string): ReadonlyArray<string> => {
  const plain = text.trim().replace(/(?<=\d)[\s'’](?=\d{3})/g, "")
  const candidates = [
    /^[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+),\d+$/.test(plain) ? plain.replaceAll(".", "").replace(",", ".") : "",
    /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(plain) ? plain.replaceAll(",", "") : "",
    /^[+-]?\d+(?:\.\d+)?$/.test(plain) ? plain : ""
  ]
  return [...new Set(candidates.flatMap((text) => (text === "" ? [] : [String(Number(text))])))]
}

/** `21.11.2026`, `1/2/2026`: what it may be, as `2026-11-21`. */
const datesIn = (text: string): ReadonlyArray<string> => {
  const [, first = "", mark, second = "", year = ""] =
    /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})$/.exec(text.trim()) ?? []
  const dayOf = (month: string, day: string) => `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`
  const candidates = [dayOf(second, first), ...(mark === "." ? [] : [dayOf(first, second)])]
  return [...new Set(candidates.filter(isDay))]
}

const truths: ReadonlyMap<string, string> = new Map([
  ...["ja", "yes", "wahr", "vrai", "oui", "1", "x", "true"].map((word) => [word, "true"] as const),
  ...["nein", "no", "falsch", "faux", "non", "0", "false"].map((word) => [word, "false"] as const)
])

const types: Readonly<Record<FullFieldType, Type>> = {
  text: { schema: () => Schema.String },
  number: {
    schema: () => Schema.Finite,
    meant: numbersIn,
    // As in key/value tables.
    ofText: (text) => {
      const value = Number(text)
      return String(value) === text && Number.isFinite(value) ? value : undefined
    }
  },
  boolean: {
    schema: () => Schema.Boolean,
    meant: (text) => [truths.get(text.trim().toLowerCase()) ?? []].flat(),
    // Spreadsheets write `TRUE`.
    ofText: (text) => (/^(?:true|false|TRUE|FALSE)$/.test(text) ? /^true$/i.test(text) : undefined)
  },
  date: { schema: () => Schema.String.pipe(Schema.filter(isDate)), meant: datesIn },
  attachments: { schema: ({ attachment }) => Schema.Array(attachment) },
  file: { schema: ({ file }) => file },
  list: { schema: () => Schema.Array(Schema.Unknown) },
  any: { schema: () => Schema.Unknown }
}

const fullTypes = Record.keys(types)

/** All types, without `?` behind them. */
export const fieldTypes: ReadonlyArray<string> = fullTypes.map((type) => JSON.stringify(type))

/** The type without its question mark. */
const fullTypeOf = (type: unknown): FullFieldType | undefined =>
  fullTypes.find((full) => type === full || type === `${full}?`)

export const isFieldType = (input: unknown): input is FieldType => fullTypeOf(input) !== undefined

/** Nothing, blank text, an empty list, or a formula without a result. */
const isEmpty = (cell: unknown): boolean =>
  cell === undefined ||
  cell === null ||
  (Predicate.isString(cell)
    ? cell.trim() === "" || isSpreadsheetError(cell)
    : isEmptyList(cell) || Option.isSome(formulaError(cell)))

const isEmptyList = (cell: unknown): boolean => Array.isArray(cell) && cell.length === 0

/** Airtable's value for a formula without a result: `{ error: "#ERROR!" }` or `{ specialValue: "NaN" }`. */
export const formulaError = (cell: unknown): Option.Option<string> =>
  Option.fromNullable(
    Predicate.hasProperty(cell, "error")
      ? cell.error
      : Predicate.hasProperty(cell, "specialValue")
        ? cell.specialValue
        : null
  ).pipe(
    Option.filter(Predicate.isString),
    Option.filter((text) => /^(#.*!|NaN|-?Infinity)$/.test(text))
  )

export interface FieldTest {
  readonly expected: Expected
  /** Whether a cell has this type; `undefined` is an empty cell. */
  readonly accepts: (cell: unknown) => boolean
  /** The remedy for a cell that is not accepted, if it is known. */
  readonly hint: (cell: unknown) => Hint | undefined
}

export const fieldTest = (
  type: FieldType,
  { isAttachment, isFile = constFalse, similar }: CellTests
): FieldTest => {
  const isOptional = type.endsWith("?")
  const full = fullTypeOf(type) ?? "any"
  const { meant, ofText, schema } = types[full]
  const path = Schema.String.pipe(Schema.filter(isFile))
  const is = Schema.is(
    schema({
      attachment: Schema.Unknown.pipe(Schema.filter(isAttachment)),
      // An object may be in the place of the path.
      file: Schema.Union(path, Schema.Struct({ localPath: path }))
    })
  )
  return {
    expected: { type: full, isOptional },
    hint: (cell) => {
      if (!Predicate.isString(cell)) return undefined
      const texts = meant?.(cell) ?? []
      const path = full === "file" ? similar?.(cell) : undefined
      return texts.length > 0
        ? { is: "write", texts }
        : path === undefined
          ? undefined
          : { is: "similar", path }
    },
    accepts: (cell) =>
      isEmpty(cell)
        ? isOptional
        : is(cell) || (ofText !== undefined && Predicate.isString(cell) && ofText(cell) !== undefined)
  }
}

/** Replaces the texts in a record with the numbers, `true` and `false` that are expected; `undefined` if none are. */
export const typedRecord = ({
  fields = {}
}: TableExpectation): ((record: unknown) => unknown) | undefined => {
  const typed = Schema.isSchema(fields)
    ? []
    : Object.entries(fields).flatMap(([name, type]) => {
        const { ofText } = types[fullTypeOf(type) ?? "any"]
        return ofText === undefined ? [] : [{ name, ofText }]
      })
  return typed.length === 0
    ? undefined
    : (record) => {
        if (!Predicate.isReadonlyRecord(record)) return record
        const values = typed.flatMap(({ name, ofText }) => {
          const cell = Object.hasOwn(record, name) ? record[name] : undefined
          const value = Predicate.isString(cell) ? ofText(cell) : undefined
          return value === undefined ? [] : [[name, value] as const]
        })
        return values.length === 0 ? record : { ...record, ...Object.fromEntries(values) }
      }
}

/** How a source saves its cells. */
export interface SavedForm {
  /** An attachment. */
  readonly attachment: FieldSchema
  /** Whether an empty cell is left out, or may also be `null`. */
  readonly emptyCells: "left out" | "null"
}

export const expectedSchema = ({ fields = {} }: TableExpectation, form: SavedForm): FieldSchema =>
  Schema.isSchema(fields)
    ? fields
    : Schema.Struct(Record.map(fields, (type) => (Schema.isSchema(type) ? type : fieldOf(type, form))))

const fieldOf = (type: FieldType, { attachment, emptyCells }: SavedForm) => {
  const schema = types[fullTypeOf(type) ?? "any"].schema({ attachment, file: Schema.String })
  return type.endsWith("?") ? Schema.optional(emptyCells === "null" ? Schema.NullOr(schema) : schema) : schema
}

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
