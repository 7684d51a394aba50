/**
 * What a listing, or a record, is asked for, in the URL or in the body of `POST …/listRecords`. What is not implemented is
 * refused: a parameter that was ignored in silence would make the stand-in lie.
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { decodeOptions, expects, optional } from "../../../src/internal/Options.ts"
import { type ApiError, invalidRequest } from "./ApiError.ts"
import { SortKey } from "./sortRecords.ts"

/** Parameters by name, as a URL brings them: several values where a name was given several times. */
export type QueryParameters = Readonly<Record<string, string | ReadonlyArray<string>>>

export const wholeNumber = (max: number) =>
  expects(Schema.Int.pipe(Schema.between(1, max)), `a whole number from 1 to ${max}`)

const text = Schema.optionalWith(expects(Schema.String, "one text"), { exact: true })

const recordFields = {
  /** Whether the answer has the ids of fields in place of their names. */
  returnFieldsByFieldId: optional(expects(Schema.Boolean, "true or false"), false),
  cellFormat: optional(
    expects(Schema.declare(Schema.is(Schema.Literal("json"))), '"json", the only one of this local server'),
    "json"
  )
}

const listFields = {
  ...recordFields,
  pageSize: optional(wholeNumber(100), 100),
  offset: text,
  /** Name or id. */
  view: text,
  /** The fields to answer with, by name or id; none for all. */
  fields: optional(
    expects(Schema.Array(expects(Schema.String, "a text")), "an array of names of fields"),
    []
  ),
  /** The most records over all pages. */
  maxRecords: optional(wholeNumber(Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER),
  /** Takes the place of the view's order unless it is empty. */
  sort: optional(expects(Schema.Array(SortKey), "an array"), [])
}

const ListQuery = Schema.Struct(listFields)
export type ListQuery = typeof ListQuery.Type

/** The official client sends its own option along, and the API puts up with it. */
const ListBody = Schema.Struct({ ...listFields, method: Schema.optional(Schema.Literal("post")) })

/** Decodes what was asked for; an error says what is supported. */
export const decoding = <A, I>(subject: string, schema: Schema.Schema<A, I>) => {
  const decode = decodeOptions(subject, schema)
  return (input: unknown): Either.Either<A, ApiError> =>
    Either.mapLeft(decode(input), ({ message }) => invalidRequest(message))
}

const decodeList = decoding("the query", ListQuery)
const decodeBody = decoding("the body", ListBody)
const decodeRecord = decoding("the query", Schema.Struct(recordFields))

export const decodeListQuery = (parameters: QueryParameters) =>
  Either.flatMap(valuesOf(parameters), decodeList)

/** The query of a single record, which knows less. */
export const decodeRecordQuery = (parameters: QueryParameters) =>
  Either.flatMap(valuesOf(parameters), decodeRecord)

/** Decodes the text of a body; it asks for the same as the parameters of a URL with those names. */
export const decodeListBody = (text: string) =>
  Either.map(Either.flatMap(parseObject(text), decodeBody), ({ method: _, ...query }) => query)

/** The object that the text of a body is. */
export const parseObject = (text: string): Either.Either<Readonly<Record<string, unknown>>, ApiError> =>
  Either.try((): unknown => JSON.parse(text)).pipe(
    Either.filterOrLeft(Predicate.isReadonlyRecord, () => undefined),
    Either.mapLeft(() => invalidRequest("The body must be a JSON object."))
  )

/** The parameters of a URL as the values that a body would have. */
export const valuesOf = (
  parameters: QueryParameters
): Either.Either<Readonly<Record<string, unknown>>, ApiError> => {
  const fields: Array<string> = []
  const sort: Array<Record<string, string>> = []
  const values: Record<string, unknown> = {}
  for (const [name, given] of Object.entries(parameters)) {
    const [value = "", ...others] = [given].flat()
    const [, index, part] = /^sort\[(\d{1,4})\]\[(field|direction)\]$/.exec(name) ?? []
    if (/^fields\[\d*\]$/.test(name)) {
      fields.push(value, ...others)
    } else if (others.length > 0) {
      return Either.left(
        invalidRequest(`The parameter ${JSON.stringify(name)} is given ${others.length + 1} times.`)
      )
    } else if (index !== undefined && part !== undefined) {
      sort[Number(index)] = { ...sort[Number(index)], [part]: value }
    } else if (["fields", "sort", "__proto__"].includes(name)) {
      return Either.left(invalidRequest(`The parameter ${JSON.stringify(name)} is not supported in a URL.`))
    } else {
      values[name] = valueOf(name, value)
    }
  }
  return Either.right({
    ...values,
    ...(fields.length > 0 && { fields }),
    ...(sort.length > 0 && { sort: sort.filter(Predicate.isNotUndefined) })
  })
}

const valueOf = (name: string, text: string): unknown => {
  switch (name) {
    case "pageSize":
    case "maxRecords":
    case "cursor":
    case "limit":
      return /^\d+$/.test(text) ? Number(text) : text
    case "returnFieldsByFieldId":
      return text === "true" ? true : text === "false" ? false : text
    default:
      return text
  }
}
