/**
 * The options of tables as a user writes them, for programs with any version of Effect or none. `FieldSchema` is
 * `never`, or a schema for programs with the Effect of Vitrine; `Secret` is text, or also `Redacted` for such
 * programs.
 */
import type { ImageConfig, MediaConfig, TableExpectation } from "../../documents/DocumentConfig.ts"

export interface TablesConfig<FieldSchema = never> {
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

/** The base, its credential, and the limit of one request. */
export interface AirtableClientConfig<Secret = string> extends Pick<TablesConfig, "maxTimeout"> {
  /** Id of the base, `app…`. */
  readonly baseId: string

  /** A token that may read the base. It is sent to `endpointUrl` only, and never shown. */
  readonly apiKey: Secret

  /**
   * `"webhook"` asks whether anything has changed, and reads only then. It is described in docs/content.md.
   * Default none (all tables are read each time).
   */
  readonly changes?: "webhook" | undefined

  /** URL of the API; a path prefix is kept. Default `"https://api.airtable.com"`. */
  readonly endpointUrl?: string | undefined
}

/** Options of a source with this client. */
export interface TableSourceConfig<Secret = string, FieldSchema = never>
  extends TablesConfig<FieldSchema>,
    AirtableClientConfig<Secret> {
  /**
   * The view that filters and orders every table; `null` reads whole tables, in any order. Default `"Grid
   * view"`.
   */
  readonly defaultView?: string | null | undefined

  /** Links in columns of text whose files are downloaded too; attachments always are. Default none. */
  readonly media?: MediaConfig<Secret> | undefined

  /** Smaller sizes of attachments and media. Default none. */
  readonly images?: ImageConfig | undefined
}

/**
 * Options of a source without a change feed: its tables are read when `fetch` is called.
 *
 * @since 0.1.0
 * @category models
 */
export interface PlainSourceConfig<Secret = string, FieldSchema = never>
  extends Omit<TableSourceConfig<Secret, FieldSchema>, "changes" | "wholeEvery" | "media" | "images"> {}
