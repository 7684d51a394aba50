/**
 * The options of a folder as a source.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { documentName, expects, omittable, optional } from "../../../internal/Options.ts"
import { type DocumentConfig, DocumentOptions, delimiter, Keys } from "../../documents/DocumentOptions.ts"
import * as PathPattern from "../../documents/media/PathPattern.ts"

/**
 * The options of `folderSource`.
 *
 * @since 0.1.0
 * @category models
 */
export interface FolderSourceConfig extends Omit<DocumentConfig, "maxBytes"> {
  /** The folder, relative to the configuration file. */
  readonly directory: string

  /**
   * `false` saves every file as it is, JSON and CSV too: a page, for `site` of `contentServer`. Such a
   * folder may be missing until the page is built for the first time. Default `true`.
   */
  readonly documents?: boolean | undefined

  /**
   * The field, or fields, that identify the records of a document, by its name; paths with dots. Default
   * `{}` (their id).
   */
  readonly keys?: Readonly<Record<string, string | ReadonlyArray<string>>> | undefined

  /**
   * CSV files with the columns `key` and `value`, by their names without the ending; each becomes one
   * object, as the key/value tables of `tableSource` do. Default `[]`.
   */
  readonly keyValueTables?: ReadonlyArray<string> | undefined

  /**
   * Columns whose cells name pictures of the folder, such as `photo`; each cell becomes `{ localPath,
   * sizes }`. A path may have `*` for one level and `**` for any. Default `[]`.
   */
  readonly pictures?: ReadonlyArray<string> | undefined

  /**
   * `"file"` keeps a file `VITRINE-PROBLEMS.txt` in the folder while its content is rejected or has
   * warnings. Default none.
   */
  readonly problems?: "file" | undefined

  /** What separates the cells of CSV. Default found in the file. */
  readonly delimiter?: ";" | "," | "\t" | "|" | undefined

  /**
   * The largest CSV or JSON file at the top of the folder, in bytes. It is held in memory. Default
   * `33554432` (32 MiB).
   */
  readonly maxBytes?: number | undefined
}

const Paths = Schema.Array(
  expects(
    Schema.String.pipe(Schema.filter((path) => Option.isSome(PathPattern.parse(path)))),
    'a path in records, such as "photo" or "gallery.*"'
  )
)

export const FolderOptions = Schema.Struct({
  ...DocumentOptions.fields,
  directory: expects(Schema.NonEmptyString, 'the path of a folder, such as "content"'),
  documents: optional(Schema.Boolean, true),
  keys: optional(Keys, {}),
  keyValueTables: optional(Schema.Array(documentName), []),
  pictures: optional(Paths, []),
  problems: omittable(expects(Schema.Literal("file"), '"file"')),
  delimiter
})
export type FolderOptions = typeof FolderOptions.Type
