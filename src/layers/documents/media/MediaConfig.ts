/**
 * The options of media as a user writes them, for programs with any version of Effect or none. `Secret` is text, or
 * also `Redacted` for programs with the Effect of Vitrine.
 */

/**
 * Which links in documents lead to files that should be on disk: downloaded into `media/` of the source's folder, and
 * checked. A text is such a link if it meets all given conditions of `find`, `hosts` and `types`; at least one of
 * them is given.
 *
 * An object with such a link gets `localPath` beside it: the path of the file in the folder of the source, which is
 * also a valid relative URL. It is the file of the object's field `url`, if this field has such a link, or else of
 * its first link in the order of names.
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
