/**
 * The types of fields that can be expected without a schema, and what is expected of a table as a schema of what is saved.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { isDay } from "../../../internal/optionSchemas.ts"
import type { FieldType, FullFieldType } from "./ExpectConfig.ts"
import type { FieldSchema, TableExpectation } from "./ExpectOptions.ts"

export interface FieldTest {
  /** What a cell must be, as in "expected …". */
  readonly expected: string
  /** Whether a cell is that; `undefined` is an empty one. */
  readonly accepts: (cell: unknown) => boolean
}

/** Whether an item of a cell is an attachment. */
export type IsAttachment = (item: unknown) => boolean

/** What types ask of the source that has the cells. */
export interface CellTests {
  readonly isAttachment: IsAttachment
  /** Whether a path is that of a file that the source itself has; it has none where this is missing. */
  readonly isFile?: ((path: string) => boolean) | undefined
}

/** The path of a file, or an object in its place. */
const namesFile = (cell: unknown, { isFile }: CellTests): boolean => {
  const path = Predicate.hasProperty(cell, "localPath") ? cell.localPath : cell
  return Predicate.isString(path) && isFile?.(path) === true
}

/** A number, or text that is one as key/value tables read it: the cells of CSV tables are text. */
const isNumber = (cell: unknown): boolean =>
  Predicate.isString(cell)
    ? String(Number(cell)) === cell && Number.isFinite(Number(cell))
    : Number.isFinite(cell)

/** Spreadsheets write `TRUE`. */
const isBoolean = (cell: unknown): boolean =>
  Predicate.isBoolean(cell) || (Predicate.isString(cell) && /^(?:true|false|TRUE|FALSE)$/.test(cell))

const date = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/

const isDate = (cell: unknown): boolean => {
  if (!Predicate.isString(cell)) return false
  const [, day = ""] = date.exec(cell) ?? []
  return isDay(day) && !Number.isNaN(Date.parse(cell))
}

const descriptions: Readonly<Record<FullFieldType, string>> = {
  text: "text",
  number: "a number",
  boolean: "true or false",
  date: 'a date such as "2026-11-21"',
  attachments: "attachments",
  file: "a file that is in the folder",
  list: "a list",
  any: "a value"
}

/** Tests for cells that are not empty. */
const acceptsFull: Readonly<Record<FullFieldType, (cell: unknown, tests: CellTests) => boolean>> = {
  text: Predicate.isString,
  number: isNumber,
  boolean: isBoolean,
  date: isDate,
  attachments: (cell, { isAttachment }) => Array.isArray(cell) && cell.every(isAttachment),
  file: namesFile,
  list: Array.isArray,
  any: () => true
}

const fullTypes = Record.keys(descriptions)

/** All types without those with `?` behind them. */
export const fieldTypes: ReadonlyArray<string> = fullTypes.map((type) => JSON.stringify(type))

/** The type without its mark. */
const fullTypeOf = (type: unknown): FullFieldType | undefined =>
  fullTypes.find((full) => type === full || type === `${full}?`)

export const isFieldType = (input: unknown): input is FieldType => fullTypeOf(input) !== undefined

/** Nothing, blank text, a list without items, and a formula without a result. */
const isEmpty = (cell: unknown): boolean =>
  cell === undefined ||
  cell === null ||
  (Predicate.isString(cell)
    ? cell.trim() === "" || isSpreadsheetError(cell)
    : isEmptyList(cell) || Option.isSome(formulaError(cell)))

/**
 * Whether a cell has what Excel and Google Sheets write for a formula without a result, in English, German, French, Spanish, Italian and
 * Dutch. Other texts that begin with `#` are texts.
 */
export const isSpreadsheetError = (cell: unknown): cell is string =>
  Predicate.isString(cell) && spreadsheetError.test(cell.trim())

const spreadsheetError =
  /^(?:#(?:N\/[ABD]|NV|GETTING_DATA|[¡¿]?(?:D(?:IV|EEL)\/0|REF|BEZUG|RIF|VERW|VALUE|WERT|VALEUR|VALOR|VALORE|WAARDE|NAME|NOM|NOMBRE|NOME|NAAM|NUM|ZAHL|GETAL|NULL|NUL|NULO|NULLO|LEEG|ERROR|SPILL|CALC)[!?])|Loading(?:\.{3}|…))$/

const isEmptyList = (cell: unknown): boolean => Array.isArray(cell) && cell.length === 0

/** What a formula of Airtable without a result gives: `{ error: "#ERROR!" }` or `{ specialValue: "NaN" }`. */
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

export const fieldTest = (type: FieldType, tests: CellTests): FieldTest => {
  const isOptional = type.endsWith("?")
  const full = fullTypeOf(type) ?? "any"
  return {
    expected: isOptional ? `${descriptions[full]} or nothing` : descriptions[full],
    accepts: (cell) => (isEmpty(cell) ? isOptional : acceptsFull[full](cell, tests))
  }
}

/** How a source saves what is expected. */
export interface SavedForm {
  /** An attachment. */
  readonly attachment: FieldSchema
  /** Whether an empty cell is left out, or may be `null` as well. */
  readonly emptyCells: "left out" | "null"
}

export const expectedSchema = ({ fields = {} }: TableExpectation, form: SavedForm): FieldSchema =>
  Schema.isSchema(fields)
    ? fields
    : Schema.Struct(Record.map(fields, (type) => (Schema.isSchema(type) ? type : fieldOf(type, form))))

const fieldOf = (type: FieldType, form: SavedForm) => {
  const schema = schemaOf(type, form.attachment)
  return type.endsWith("?")
    ? Schema.optional(form.emptyCells === "null" ? Schema.NullOr(schema) : schema)
    : schema
}

const schemaOf = (type: FieldType, attachment: FieldSchema): FieldSchema => {
  switch (fullTypeOf(type)) {
    case "text":
    case "date":
    case "file":
      return Schema.String
    case "number":
      return Schema.Number
    case "boolean":
      return Schema.Boolean
    case "attachments":
      return Schema.Array(attachment)
    case "list":
      return Schema.Array(Schema.Unknown)
    default:
      return Schema.Unknown
  }
}
