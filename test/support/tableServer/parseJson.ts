/**
 * JSON text as the content of a table.
 *
 * Two forms are read: an array of rows, and what the API answers a listing with. Values keep their types.
 */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { sentenceOf } from "../../../src/internal/mistake.ts"
import { expects } from "../../../src/internal/Options.ts"
import { jsonMistake } from "../../../src/layers/documents/textMistakes.ts"
import { InvalidTableFile } from "./FileCache.ts"
import type { Row, TableContent } from "./Table.ts"

/** An object taken as it is: a rebuilt one would lose a field named `__proto__`. */
const Cells = expects(
  Schema.declare((value: unknown): value is Readonly<Record<string, unknown>> =>
    Predicate.isReadonlyRecord(value)
  ),
  "an object with a value for each field"
)

const Rows = Schema.Array(Cells)

const Listing = Schema.Struct({
  records: expects(
    Schema.Array(
      Schema.Struct({
        id: expects(Schema.String.pipe(Schema.minLength(1)), "a text that is not empty"),
        createdTime: Schema.optionalWith(expects(Schema.String, "a text"), { exact: true }),
        fields: Cells
      })
    ),
    "an array"
  )
})

export const parseJson = (file: string, text: string): Either.Either<TableContent, InvalidTableFile> =>
  Either.flatMap(readJson(file, text), (value) => {
    if (Array.isArray(value)) {
      return Either.map(decode(file, Rows, value), (rows) => content(rows.map((cells) => ({ cells }))))
    }
    if (Predicate.hasProperty(value, "records")) {
      return Either.flatMap(decode(file, Listing, value), ({ records }) => listingContent(file, records))
    }
    return Either.left(
      new InvalidTableFile({
        file,
        problem: 'must hold an array of rows, or an object with the array "records".'
      })
    )
  })

/** Parses JSON text; the error tells the line. */
export const readJson = (file: string, text: string): Either.Either<unknown, InvalidTableFile> =>
  Either.try({
    try: (): unknown => JSON.parse(text),
    catch: (error) => {
      const mistake = jsonMistake(text, error)
      return new InvalidTableFile({ file, problem: sentenceOf(mistake), ...mistake.place })
    }
  })

const decode = <A, I>(
  file: string,
  schema: Schema.Schema<A, I>,
  value: unknown
): Either.Either<A, InvalidTableFile> =>
  Either.mapLeft(Schema.decodeUnknownEither(schema)(value), (error) => {
    const issue = ParseResult.ArrayFormatter.formatErrorSync(error)[0]
    const problem =
      issue === undefined
        ? error.message
        : `at ${issue.path.join(".")}: ${issue._tag === "Missing" ? "is missing" : issue.message}`
    return new InvalidTableFile({ file, problem })
  })

const listingContent = (
  file: string,
  records: (typeof Listing.Type)["records"]
): Either.Either<TableContent, InvalidTableFile> => {
  const ids = new Set<string>()
  for (const { id } of records) {
    if (ids.has(id)) {
      return Either.left(new InvalidTableFile({ file, problem: `two records have the id ${id}.` }))
    }
    ids.add(id)
  }
  return Either.right(content(records.map(({ fields, ...record }) => ({ ...record, cells: fields }))))
}

const content = (rows: ReadonlyArray<Row>): TableContent => ({
  fieldNames: [...new Set(rows.flatMap(({ cells }) => Object.keys(cells)))],
  rows
})
