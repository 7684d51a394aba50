/**
 * The options of the hosted table API as a user writes them, for programs with any Effect or none.
 *
 * `Secret` is text, or for programs with the Effect of Vitrine `Redacted` as well; `FieldSchema` is as in
 * `TableSourceConfig.ts`.
 */
import type { ImageConfig } from "../../documents/images/ImageConfig.ts"
import type { MediaConfig } from "../../documents/media/MediaConfig.ts"
import type { TableSourceConfig } from "./TableSourceConfig.ts"

/** Where the base is, how to get in, and how long one request may take. */
export interface AirtableClientConfig<Secret = string> extends Pick<TableSourceConfig, "maxTimeout"> {
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

/** Options of a source with that client. */
export interface AirtableSourceConfig<Secret = string, FieldSchema = never>
  extends TableSourceConfig<FieldSchema>,
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

/** Options of a source without a change feed: its tables are read when `fetch` is called. */
export interface PlainSourceConfig<Secret = string, FieldSchema = never>
  extends Omit<AirtableSourceConfig<Secret, FieldSchema>, "changes" | "wholeEvery" | "media" | "images"> {}
