/**
 * The expectations, media and pictures of documents as a user writes them, for programs with any version of Effect or
 * none.
 */

/**
 * The expectations about a table. `FieldSchema` is `never`, or a schema for programs with the Effect of Vitrine.
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

/**
 * A type, or a schema of the cell as it comes; `undefined` is an empty cell.
 *
 * @since 0.1.0
 * @category models
 */
export type FieldExpectations<FieldSchema = never> = Readonly<Record<string, FieldType | FieldSchema>>

/**
 * The content of a cell. With `?` behind it, the cell may be empty.
 *
 * @since 0.1.0
 * @category models
 */
export type FieldType = FullFieldType | `${FullFieldType}?`

/** The type of a cell that is not empty. `file` is the path of a file in the folder of `folderSource`. */
export type FullFieldType = "text" | "number" | "boolean" | "date" | "attachments" | "file" | "list" | "any"

/**
 * Which links in documents lead to files that should be on disk: downloaded into `media/` of the source's folder, and
 * checked. A text is such a link if it meets all given conditions of `find`, `hosts` and `types`; at least one of
 * them is given.
 *
 * An object with such a link gets `localPath` beside it: the path of the file in the folder of the source, which is
 * also a valid relative URL. It is the file of the object's field `url`, if this field has such a link, or else of
 * its first link in the order of names.
 *
 * `Secret` is text, or also `Redacted` for programs with the Effect of Vitrine.
 */
export interface MediaConfig<Secret = string> {
  /**
   * Paths in a document, such as `"**.image.url"`: `*` is one level, `**` any number. A level is a name
   * or an item of a list. Default everywhere.
   */
  readonly find?: ReadonlyArray<string> | undefined

  /** Hosts that the links lead to, such as `"cdn.museum.example"`, with or without a port. Default any. */
  readonly hosts?: ReadonlyArray<string> | undefined

  /**
   * Media types of the files, such as `"image/*"` or `"video/mp4"`. The server must state one of these.
   * Without `find`, links are found by the extension in them. Default any.
   */
  readonly types?: ReadonlyArray<string> | undefined

  /**
   * Paths whose strings become `{ "url": …, "localPath": … }`; `true` for all but fields named `url`.
   * Default none.
   */
  readonly replace?: true | ReadonlyArray<string> | undefined

  /**
   * Paths where a file may be missing, `true` for all: a warning, and no `localPath`. Elsewhere a missing
   * file fails the fetch. Default none.
   */
  readonly optional?: true | ReadonlyArray<string> | undefined

  /** Headers sent to `hosts` only, which must be given. They are never shown. Default none. */
  readonly headers?: Readonly<Record<string, Secret>> | undefined

  /** The largest file in bytes. Default `8589934592` (8 GiB). */
  readonly maxBytes?: number | undefined
}

/**
 * The sizes of pictures.
 *
 * It needs the package `sharp` beside Vitrine: `npm install sharp`. Each picture gets `sizes` beside its `localPath`:
 * smaller pictures, upright, without metadata, in the colours of screens. The picture itself stays as it is. Animated
 * pictures and SVG get no sizes.
 *
 * @since 0.1.0
 * @category models
 */
export interface ImageConfig {
  /**
   * Widths in pixels, at most 12, each up to 16383; a smaller picture gets its own width instead of
   * larger ones. Default `[640, 1920]`.
   */
  readonly widths?: ReadonlyArray<number> | undefined

  /**
   * Formats of each width, in the order in which a page offers them, so the smallest come first. AVIF
   * takes 12 to 22 seconds for a picture of 12 megapixels, WebP less than one. Default `["webp"]`.
   */
  readonly formats?: ReadonlyArray<ImageFormat> | undefined

  /** Quality of JPEG, WebP and AVIF, 1 to 100. Default that of `sharp` (80, AVIF 50). */
  readonly quality?: number | undefined

  /**
   * An aspect ratio such as `"16:9"` or `"square"`, cut around the focal point where a picture has one.
   * Default none.
   */
  readonly crop?: string | undefined
}

export type ImageFormat = "jpeg" | "webp" | "png" | "avif"
