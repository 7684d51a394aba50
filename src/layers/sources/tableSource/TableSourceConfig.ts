/**
 * The options of a table source as a user writes them, for programs with any Effect or none.
 *
 * `FieldSchema` is nothing, or for programs with the Effect of Vitrine a schema.
 */
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

export interface TableExpectation<FieldSchema = never> {
  /** By the names of columns, in a key/value table by its keys; or a schema of a whole record or object. Others may be there too. */
  readonly fields?: FieldExpectations<FieldSchema> | FieldSchema

  /** How many records there are at least, in a key/value table how many keys. Default 0. */
  readonly minRecords?: number

  /** Which share of the records in the version before may be gone, from 0 to 1. Default 1. */
  readonly maxVanishing?: number
}

/** A type, or a schema of the cell as it comes; `undefined` is an empty cell. */
export type FieldExpectations<FieldSchema = never> = Readonly<Record<string, FieldType | FieldSchema>>

/** What is in a cell. With `?` behind it, the cell may be empty. */
export type FieldType = FullFieldType | `${FullFieldType}?`

/** Of a cell that is not empty. */
export type FullFieldType = "text" | "number" | "boolean" | "date" | "attachments" | "list" | "any"
