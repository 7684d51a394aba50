/**
 * The options of a table source as a user writes them, for programs with any Effect or none.
 *
 * `FieldSchema` is nothing, or for programs with the Effect of Vitrine a schema.
 */
import type { TableExpectation } from "../../documents/expect/ExpectConfig.ts"

export interface TableSourceConfig<FieldSchema = never> {
  /** Unique among the sources, and the name of this source's folder in a version. */
  readonly id: string

  /** The view that filters and orders every table; `null` reads whole tables. Default `null`. */
  readonly defaultView?: string | null

  /** Tables to save as arrays of records. Default none. */
  readonly tables?: ReadonlyArray<string>

  /** Tables to save as one object each, from their columns `key` and `value`. Default none. */
  readonly keyValueTables?: ReadonlyArray<string>

  /** Whether saved attachments get the path of their local copy. Default true. */
  readonly appendLocalAttachmentPaths?: boolean

  /** Time allowed for one request, answer included, in milliseconds. Default 60000. */
  readonly maxTimeout?: number

  /** The largest file to download, in bytes. Default 8 GiB. */
  readonly maxAttachmentBytes?: number

  /**
   * What must be in tables, by their names. A fetch that brings something else is rejected: the active version stays. Default
   * nothing.
   */
  readonly expect?: Readonly<Record<string, TableExpectation<FieldSchema>>>

  /**
   * How often all tables are read though nothing seems to have changed, `"1 hour"` or milliseconds, where it can be asked what has
   * changed. Default 1 hour.
   */
  readonly wholeEvery?: string | number
}
