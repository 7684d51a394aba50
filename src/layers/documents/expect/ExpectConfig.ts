/**
 * The expectations of a user about tables, for programs with any version of Effect or none. `FieldSchema` is `never`,
 * or a schema for programs with the Effect of Vitrine.
 */
export interface TableExpectation<FieldSchema = never> {
  /**
   * A type for each column, or for each key of a key/value table. Others may be there too. A schema of a
   * whole record works as well. Default none.
   */
  readonly fields?: FieldExpectations<FieldSchema> | FieldSchema | undefined

  /** The fewest records, or keys of a key/value table. Default `0`. */
  readonly minRecords?: number | undefined

  /**
   * The share of the records, from 0 to 1, that may be left out because they are not as `fields` says; each
   * is a warning. Default `0` (one such record rejects the version).
   */
  readonly leaveOut?: number | undefined

  /** The largest share of records that may be missing compared to the last version, from 0 to 1. Default `1`. */
  readonly maxVanishing?: number | undefined
}

/**
 * A schema of Effect that needs no services; its decoding must be synchronous. It avoids the types of Effect, which
 * are `any` in projects without Effect.
 */
export interface EffectSchema {
  readonly ast: object
  readonly Context: never
}

/** A type, or a schema of the cell as it comes; `undefined` is an empty cell. */
export type FieldExpectations<FieldSchema = never> = Readonly<Record<string, FieldType | FieldSchema>>

/** The content of a cell. With `?` behind it, the cell may be empty. */
export type FieldType = FullFieldType | `${FullFieldType}?`

/** The type of a cell that is not empty. `file` is the path of a file in the folder of `folderSource`. */
export type FullFieldType = "text" | "number" | "boolean" | "date" | "attachments" | "file" | "list" | "any"
