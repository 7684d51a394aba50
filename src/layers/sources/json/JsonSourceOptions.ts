/**
 * The options of a source of JSON and CSV at URLs; `JsonSourceConfig.ts` says what they are for.
 */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { isHttpUrl } from "../../../internal/httpAddress.ts"
import { expects, expectsSecret, optional } from "../../../internal/Options.ts"
import { secret } from "../../../internal/secret.ts"
import { DocumentOptions, delimiter, recordKey } from "../../documents/DocumentOptions.ts"
import { parameterOf } from "./parameters.ts"

const header = secret((text) => /^[\t\x20-\x7e\x80-\xff]*$/.test(text), "the text of a header, in one line")

const Headers = expects(Schema.Record({ key: Schema.String, value: header }), "an object of headers").pipe(
  Schema.filter((headers) =>
    Object.keys(headers)
      .filter((name) => !/^[\w-]+$/.test(name))
      .map((name) => ({ path: [name], message: 'expected the name of a header, such as "Authorization"' }))
  )
)

const path = expects(
  Schema.String.pipe(Schema.pattern(/^[^.]+(\.[^.]+)*$/)),
  'a path with dots, such as "data.items"'
)

const parameter = (example: string) =>
  expects(Schema.NonEmptyString, `a parameter of "url", such as "${example}"`)

const exact = { exact: true } as const

export const JsonDocument = Schema.Struct({
  url: expectsSecret(
    Schema.String.pipe(Schema.filter(isHttpUrl)),
    'an http or https URL, without credentials (those go into "headers")'
  ),
  headers: optional(Headers, {}),
  as: optional(expects(Schema.Literal("json", "csv"), '"json" or "csv"'), "json"),
  delimiter,
  items: Schema.optionalWith(path, exact),
  key: Schema.optionalWith(recordKey, exact),
  next: Schema.optionalWith(path, exact),
  cursor: Schema.optionalWith(parameter("cursor"), exact),
  page: Schema.optionalWith(parameter("page"), exact),
  offset: Schema.optionalWith(parameter("skip"), exact),
  size: Schema.optionalWith(parameter("limit"), exact),
  total: Schema.optionalWith(
    expects(Schema.Union(path, Schema.Literal(false)), 'a path with dots, such as "meta.total", or false'),
    exact
  )
})
export type JsonDocument = typeof JsonDocument.Type

/** What does not go together. */
const mistakes = (document: JsonDocument): ReadonlyArray<Schema.FilterIssue> => {
  const { as, cursor, delimiter, items, next, offset, page, size, total, url } = document
  const isCounted = page !== undefined || offset !== undefined
  const wrong: Readonly<Record<string, string | false>> = {
    items: as === "csv" && items !== undefined && "CSV has no paths: leave it out",
    delimiter: as === "json" && delimiter !== undefined && 'needs as: "csv"',
    next: as === "csv" && next !== undefined && next !== "link" && 'CSV has no paths: expected "link"',
    cursor:
      cursor !== undefined &&
      (next === undefined || next === "link") &&
      'needs the path to a token, as in next: "meta.cursor"',
    page:
      page !== undefined &&
      ((next !== undefined && 'expected one of "next", "page" and "offset"') ||
        (Number.isNaN(parameterOf(url, page)) && `expected a number for "${page}" in "url"`)),
    offset:
      offset !== undefined &&
      (((next ?? page) !== undefined && 'expected one of "next", "page" and "offset"') ||
        (Number.isNaN(parameterOf(url, offset)) && `expected a number for "${offset}" in "url"`)),
    size:
      size !== undefined &&
      ((!isCounted && 'needs "page" or "offset"') ||
        (!((parameterOf(url, size) ?? 0) > 0) &&
          `expected a number for "${size}" in "url", as in "?${size}=100"`)),
    total:
      Predicate.isString(total) &&
      ((!isCounted && next === undefined && 'needs "next", "page" or "offset"') ||
        (as === "csv" && "CSV has no paths: expected false"))
  }
  return Object.entries(wrong).flatMap(([name, message]) =>
    message === false ? [] : [{ path: [name], message }]
  )
}

/** A URL alone, or all that there is to say. */
const DocumentAt = Schema.transform(
  Schema.Unknown,
  expects(JsonDocument, 'a URL, or an object with "url"').pipe(Schema.filter(mistakes)),
  {
    strict: false,
    decode: (input) => (Predicate.isString(input) ? { url: input } : input),
    encode: (document) => document
  }
)

export const JsonSourceOptions = Schema.Struct({
  ...DocumentOptions.fields,
  documents: expects(
    Schema.Record({ key: Schema.String, value: DocumentAt }),
    'an object with the URL of each document, such as { events: "https://museum.example/events.json" }'
  ).pipe(
    Schema.filter((documents) =>
      Object.keys(documents).length === 0 ? "expected at least one document" : undefined
    )
  )
})
export type JsonSourceOptions = typeof JsonSourceOptions.Type
