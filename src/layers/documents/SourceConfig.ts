/**
 * A source of one's own as a user writes it.
 */
import type { DocumentConfig } from "./DocumentConfig.ts"

/** How an answer is read: JSON, text, or CSV with a first row of names, each other row an object without its empty cells. */
export interface GetOptions<As extends "json" | "text" | "csv" = "json" | "text" | "csv"> {
  /** Default `json`. */
  readonly as?: As
  /** What separates the cells of CSV. Default: what its first line has most of outside of quotes, or what a line `sep=;` before it says. */
  readonly delimiter?: ";" | "," | "\t" | "|"
  /** Sent to the origin of the URL, and to no other one that it redirects to. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * What a URL answers: at most `maxBytes`, through the proxy of the environment, and asked for again where the server fails. What has
 * not changed since it was asked for last is not sent again. It rejects with the reason, which has no query of a URL and no header in it.
 */
export interface Get {
  (url: string | URL, options: GetOptions<"text"> & { readonly as: "text" }): Promise<string>
  (
    url: string | URL,
    options: GetOptions<"csv"> & { readonly as: "csv" }
  ): Promise<ReadonlyArray<Readonly<Record<string, string>>>>
  <Json = unknown>(url: string | URL, options?: GetOptions<"json">): Promise<Json>
}

/** What `fetch` is given. */
export interface SourceContext {
  readonly get: Get
  /** Aborts when the fetch is given up: the controller stops, or another source has failed. */
  readonly signal: AbortSignal
  /** Writes a line into the log of the controller. */
  readonly log: (message: string) => void
  /** A document of the version before, as it was saved; `undefined` where there is none. */
  readonly previous: <Json = unknown>(name: string) => Promise<Json | undefined>
}

/** A value, or the records of a long document one after the other. */
export type DocumentInput = unknown | AsyncIterable<unknown>

export interface SourceConfig<FieldSchema = never, Secret = string>
  extends DocumentConfig<FieldSchema, Secret> {
  /**
   * Gives all documents by their names: each is saved as `<id>/<name>.json`. An array is a document of records. It has ten minutes for it,
   * and an async iterable for each record.
   */
  readonly fetch: (
    context: SourceContext
  ) => Promise<Readonly<Record<string, DocumentInput>>> | Readonly<Record<string, DocumentInput>>

  /** What identifies the records of a document, by its name: a field, or several, as paths with dots. Default `id`. */
  readonly keys?: Readonly<Record<string, string | ReadonlyArray<string>>>

  /**
   * A cheap question, asked at each tick: a text that is another one when something has changed, such as a date or a number. `fetch` is called
   * only then. Without it, it is called at each tick.
   */
  readonly poll?: (context: Pick<SourceContext, "get" | "signal">) => Promise<string> | string
}
