/**
 * The options of a source of JSON and CSV at URLs, their meaning, and their checks.
 */
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { documentName, expects, expectsSecret, omittable, optional } from "../../../internal/Options.ts"
import { isHttpUrl, secret } from "../../../internal/optionSchemas.ts"
import {
  type DocumentConfig,
  DocumentOptions,
  delimiter,
  recordKey
} from "../../documents/DocumentOptions.ts"

/**
 * The address of a document, and the order of its pages. Paths are names with dots, `data.posts`; numbers are places
 * in lists.
 *
 * @since 0.1.0
 * @category models
 */
export interface JsonDocument {
  /** An http or https URL, with the parameters of the first page. */
  readonly url: string

  /**
   * Headers sent to the origin of `url` only, also after a redirect and for further pages. They are never
   * shown. Default `{}`.
   */
  readonly headers?: Readonly<Record<string, string | Redacted.Redacted>> | undefined

  /** `"csv"` for a table whose first row has the names of the columns. Default `"json"`. */
  readonly as?: "json" | "csv" | undefined

  /** The separator between the cells of CSV. Default found in the file. */
  readonly delimiter?: ";" | "," | "\t" | "|" | undefined

  /** Path to the list of records in a response. Default the whole response. */
  readonly items?: string | undefined

  /** The field, or fields, that identify a record, as paths. Default its id. */
  readonly key?: string | ReadonlyArray<string> | undefined

  /**
   * `"link"` for the `Link` header, or a path to the URL of the next page, or to a token for `cursor`.
   * The last page has none. Default none.
   */
  readonly next?: string | undefined

  /** The parameter of `url` for the token that `next` leads to. Default none. */
  readonly cursor?: string | undefined

  /**
   * The parameter of `url` for the number of a page, counted from the one in `url`, or from 1. Default
   * none.
   */
  readonly page?: string | undefined

  /**
   * The parameter of `url` for the number of records before a page, counted from the one in `url`, or
   * from 0. Default none.
   */
  readonly offset?: string | undefined

  /**
   * The parameter of `url` for the size of a page, with `page` or `offset`. Servers may send fewer: the
   * list ends before a page without records, or after a short page if the next page is refused (400).
   * Default none.
   */
  readonly size?: string | undefined

  /**
   * Path to the number of all records or pages, or the name of a header; `false` ignores what the server
   * states. With fewer, the list is read once more, and then the fetch fails. `X-WP-Total`,
   * `X-Total-Count` and `Content-Range` are known. Default from a header.
   */
  readonly total?: string | false | undefined
}

/**
 * JSON and CSV at URLs: each document is a list of records, or one value.
 *
 * @since 0.1.0
 * @category models
 */
export interface JsonSourceConfig extends DocumentConfig {
  /**
   * URLs by the names of documents, each saved as `<id>/<name>.json`. A URL alone is saved as it comes;
   * an object says more.
   */
  readonly documents: Readonly<Record<string, string | JsonDocument>>
}

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

export const JsonDocumentOptions = Schema.Struct({
  url: expectsSecret(
    Schema.String.pipe(Schema.filter(isHttpUrl)),
    'an http or https URL, without credentials (those go into "headers")'
  ),
  headers: optional(Headers, {}),
  as: optional(expects(Schema.Literal("json", "csv"), '"json" or "csv"'), "json"),
  delimiter,
  items: omittable(path),
  key: omittable(recordKey),
  next: omittable(path),
  cursor: omittable(parameter("cursor")),
  page: omittable(parameter("page")),
  offset: omittable(parameter("skip")),
  size: omittable(parameter("limit")),
  total: omittable(
    expects(Schema.Union(path, Schema.Literal(false)), 'a path with dots, such as "meta.total", or false')
  )
})
/** The decoded options of a document. */
export type JsonDocumentOptions = typeof JsonDocumentOptions.Type

/** The options that contradict each other. */
const mistakes = (document: JsonDocumentOptions): ReadonlyArray<Schema.FilterIssue> => {
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

/** A URL alone, or an object with further options. */
const DocumentAt = Schema.transform(
  Schema.Unknown,
  expects(JsonDocumentOptions, 'a URL, or an object with "url"').pipe(Schema.filter(mistakes)),
  {
    strict: false,
    decode: (input) => (Predicate.isString(input) ? { url: input } : input),
    encode: (document) => document
  }
)

export const JsonSourceOptions = Schema.Struct({
  ...DocumentOptions.fields,
  documents: expects(
    Schema.Record({ key: documentName, value: DocumentAt }),
    'an object with the URL of each document, such as { events: "https://museum.example/events.json" }'
  ).pipe(
    Schema.filter((documents) =>
      Object.keys(documents).length === 0 ? "expected at least one document" : undefined
    )
  )
})
export type JsonSourceOptions = typeof JsonSourceOptions.Type

/** A parameter that is a whole number: `undefined` if it is absent, `NaN` if it is another text. */
export const parameterOf = (address: string, name: string): number | undefined => {
  const text = new URL(address).searchParams.get(name)
  return text === null ? undefined : /^\d+$/.test(text) ? Number(text) : Number.NaN
}
