/**
 * What the hosted table API responds with: pages, and the records in them.
 */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { TableRecord } from "../../../services/TableSourceClient.ts"
import type { JsonObject } from "../../documents/mapObjects.ts"

/** A page of a hundred records is far smaller; more than this is no page. */
export const maxBodyBytes = 32 * 1024 * 1024

/** A value, or in words what is wrong and where. What came is not printed: it may be nested deeper than anything can print. */
export type Decode<A> = (json: unknown) => Either.Either<A, string>

const isText = (value: unknown): value is string => Predicate.isString(value) && value !== ""

const isRecord = (value: unknown): value is TableRecord =>
  Predicate.isReadonlyRecord(value) && isText(value.id) && Predicate.isReadonlyRecord(value.fields)

const recordMistake = (value: unknown, place: string): string =>
  !Predicate.isReadonlyRecord(value)
    ? `expected a record at ${place === "" ? "its beginning" : place}`
    : !isText(value.id)
      ? fieldMistake(value, "id", "a text", place)
      : fieldMistake(value, "fields", "an object", place)

const fieldMistake = (object: JsonObject, name: string, expected: string, place = ""): string => {
  const path = place === "" ? name : `${place}.${name}`
  return object[name] === undefined ? `"${path}" is missing` : `expected ${expected} at ${path}`
}

export const decodeRecord: Decode<TableRecord> = (json) =>
  isRecord(json) ? Either.right(json) : Either.left(recordMistake(json, ""))

interface PageResponse {
  readonly records: ReadonlyArray<TableRecord>
  readonly offset: string | null | undefined
}

export const decodePage: Decode<PageResponse> = (json) => {
  if (!Predicate.isReadonlyRecord(json)) return Either.left("expected a page at its beginning")
  const { offset, records } = json
  if (!Array.isArray(records)) return Either.left(fieldMistake(json, "records", "an array"))
  if (!records.every(isRecord)) {
    const index = records.findIndex(Predicate.not(isRecord))
    return Either.left(recordMistake(records[index], `records.${index}`))
  }
  return Predicate.isNullable(offset) || Predicate.isString(offset)
    ? Either.right({ records, offset })
    : Either.left("expected a text at offset")
}

/** Decodes what is smaller than a page. */
export const decodeOther = <A, I>(schema: Schema.Schema<A, I>, what: string): Decode<A> => {
  const decode = Schema.decodeUnknownEither(
    schema.annotations({ message: () => ({ message: `expected ${what}`, override: true }) })
  )
  return (json) => Either.mapLeft(decode(json), firstIssue)
}

/** In words, and where it is. */
const firstIssue = (error: ParseResult.ParseError): string => {
  const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
  if (issue === undefined) {
    return error.message
  }
  const place = issue.path.join(".")
  return issue._tag === "Missing"
    ? `"${place}" is missing`
    : `${issue.message} at ${place === "" ? "its beginning" : place}`
}
