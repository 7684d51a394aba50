/**
 * A source of JSON and CSV at URLs as a user writes it.
 */
import type * as Redacted from "effect/Redacted"
import type { DocumentConfig } from "../../documents/DocumentOptions.ts"

/**
 * Where a document is, and how its pages follow one another. Paths are names with dots, `data.posts`; numbers are places in lists.
 */
export interface JsonDocument {
  /** An http or https URL, with the parameters of the first page. */
  readonly url: string

  /**
   * Sent to the origin of `url` and to no other one, wherever it redirects to and wherever the next page is; never shown. Default none.
   */
  readonly headers?: Readonly<Record<string, string | Redacted.Redacted>>

  /** `"csv"` for a table whose first row has the names; each other row is a record. Default `"json"`. */
  readonly as?: "json" | "csv"

  /** What separates the cells of CSV. Default: what its first line has most of outside of quotes, or what a line `sep=;` before it says. */
  readonly delimiter?: ";" | "," | "\t" | "|"

  /** Path to the list of records in an answer. Default: all of it. */
  readonly items?: string

  /**
   * What identifies a record: a field, or several, as paths. With a record on two pages, the list is read once more, and then the fetch
   * fails. Default `id`.
   */
  readonly key?: string | ReadonlyArray<string>

  /**
   * Where an answer says what comes next: `"link"` is its `Link` header, anything else a path to the URL of the next page, or to a token
   * for `cursor`. The last page has none.
   */
  readonly next?: string

  /** The parameter of `url` for the token that `next` leads to. */
  readonly cursor?: string

  /** The parameter of `url` for the number of a page. It counts from the one in `url`, or else from 1. */
  readonly page?: string

  /** The parameter of `url` for how many records come before a page. It counts from the one in `url`, or else from 0. */
  readonly offset?: string

  /**
   * With `page` or `offset`, the parameter of `url` that says how many records a page has. Servers may give fewer: the last page is the one
   * before a page without records, or without an answer (400) where this one is short.
   */
  readonly size?: string

  /**
   * How many records there are on all pages, or how many pages (`meta.pageCount`): a path, or the name of a header. With fewer, the list is read once more, and
   * then the fetch fails. Default: what a header states (`X-WP-Total`, `X-Total-Count`, `Content-Range`, …), if any. `false` where a server counts
   * what it does not give, or one page is enough.
   */
  readonly total?: string | false
}

/** JSON and CSV at URLs: each document is a list of records, or one value. */
export interface JsonSourceConfig extends DocumentConfig {
  /** The documents by their names, each saved as `<id>/<name>.json`. A URL alone is a document that is saved as it comes. */
  readonly documents: Readonly<Record<string, string | JsonDocument>>
}
