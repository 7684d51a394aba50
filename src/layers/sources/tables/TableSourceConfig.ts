/**
 * The options of a table source as a user writes them, for programs with any Effect or none.
 *
 * `FieldSchema` is nothing, or for programs with the Effect of Vitrine a schema.
 */
import type { TableExpectation } from "../../documents/expect/ExpectConfig.ts"

export interface TableSourceConfig<FieldSchema = never> {
  /** Name of the source, and of its folder in a version; unique among the sources. */
  readonly id: string

  /** The view that filters and orders every table; `null` reads whole tables. Default `null`. */
  readonly defaultView?: string | null | undefined

  /** Tables to save as arrays of records. Default `[]`. */
  readonly tables?: ReadonlyArray<string> | undefined

  /** Tables to save as one object each, from their columns `key` and `value`. Default `[]`. */
  readonly keyValueTables?: ReadonlyArray<string> | undefined

  /**
   * The fields to read, of all `tables`; or by the name of a table, also of one in `links`; all where none are named. Default `{}`.
   */
  readonly fields?: ReadonlyArray<string> | Readonly<Record<string, ReadonlyArray<string>>> | undefined

  /**
   * The linked records in the place of their ids, by fields and the tables that these link to: `{ Maker: "Makers"
   * }`. Such a table may be named here only. Default `{}`.
   */
  readonly links?: Readonly<Record<string, string>> | undefined

  /** Whether saved attachments get the path of their file, as `localPath`. Default `true`. */
  readonly appendLocalAttachmentPaths?: boolean | undefined

  /** Milliseconds for one request to the API, and for the longest pause in a download. Default `60000`. */
  readonly maxTimeout?: number | undefined

  /** The largest file to download, in bytes; a larger one fails the fetch. Default `8589934592` (8 GiB). */
  readonly maxAttachmentBytes?: number | undefined

  /**
   * What must be in tables, by their names. A fetch that brings something else is rejected: the active
   * version stays. Default `{}`.
   */
  readonly expect?: Readonly<Record<string, TableExpectation<FieldSchema>>> | undefined

  /**
   * How often all tables are read with `changes`, even if nothing seems to have changed; a duration or
   * milliseconds. Default `"1 hour"`.
   */
  readonly wholeEvery?: string | number | undefined
}
