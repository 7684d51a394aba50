/**
 * What the hosted table API responds with: pages, and the records in them.
 */
import type * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { TableRecord } from "../../../services/TableSourceClient.ts"

/** A page of a hundred records is far smaller; more than this is no page. */
export const maxBodyBytes = 32 * 1024 * 1024

/**
 * Told apart without being printed: what came instead may be nested deeper than anything can print. Cells stay the
 * object that was parsed, because rebuilding it would lose a field named `__proto__`.
 */
const expected = <A>(what: string, is: (input: unknown) => input is A) =>
  Schema.declare(is, { message: () => `expected ${what}` })

const isText = (input: unknown): input is string => Predicate.isString(input) && input !== ""

const isFields = (input: unknown): input is TableRecord["fields"] => Predicate.isReadonlyRecord(input)

const isOffset = (input: unknown): input is string | null => input === null || Predicate.isString(input)

const RecordResponse = Schema.Struct({
  id: expected("a text", isText),
  fields: expected("an object", isFields)
}).annotations({ message: () => "expected a record" })

const PageResponse = Schema.Struct({
  records: Schema.Array(RecordResponse).annotations({ message: () => "expected an array" }),
  offset: Schema.optionalWith(expected("a text", isOffset), { exact: true })
}).annotations({ message: () => "expected a page" })

export type Decode<A> = (json: unknown) => Either.Either<A, ParseResult.ParseError>

export const decodeRecord: Decode<TableRecord> = Schema.decodeUnknownEither(RecordResponse)

export const decodePage: Decode<typeof PageResponse.Type> = Schema.decodeUnknownEither(PageResponse)

/** Decodes what is smaller than a page. What came instead is not printed. */
export const decodeOther = <A, I>(schema: Schema.Schema<A, I>, what: string): Decode<A> =>
  Schema.decodeUnknownEither(
    schema.annotations({ message: () => ({ message: `expected ${what}`, override: true }) })
  )

/** In words, and where it is. */
export const firstIssue = (error: ParseResult.ParseError): string => {
  const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
  if (issue === undefined) {
    return error.message
  }
  const place = issue.path.join(".")
  return issue._tag === "Missing"
    ? `"${place}" is missing`
    : `${issue.message} at ${place === "" ? "its beginning" : place}`
}
