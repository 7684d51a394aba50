/**
 * The options of media as a user writes them, for programs with any Effect or none.
 *
 * `Secret` is text, or for programs with the Effect of Vitrine `Redacted` as well.
 */

/**
 * Which links in documents lead to files that are to be on disk: downloaded into `media/` of the source's folder, and checked.
 * A link is one where all that is given of `find`, `hosts` and `types` holds; at least one of them is.
 *
 * An object with such a link gets `localPath` beside it: the path of the file in the folder of the source, which is also a
 * relative URL as it stands. It is the file of the object's field `url`, where that is such a link, or else of its first link in
 * the order of names.
 */
export interface MediaConfig<Secret = string> {
  /**
   * Where links are: patterns of paths in a document, `"**.image.url"`. `*` is one level, a name or an item of a list; `**` any
   * number of levels. Relative links, `/uploads/a.jpg`, are found as well. Default everywhere.
   */
  readonly find?: ReadonlyArray<string>

  /** Where links lead to, `"cdn.museum.example"`; with a port, only to that one. Default anywhere. */
  readonly hosts?: ReadonlyArray<string>

  /**
   * What the files are, `"image/*"` or `"video/mp4"`: what the server says they are must be one of these. Where `find` is not
   * given, links are found by the extension of the name in them. Default anything.
   */
  readonly types?: ReadonlyArray<string>

  /**
   * Which links that are fields or items of lists become objects, `{ "url": …, "localPath": … }`: those of these places, or with
   * `true` all but fields that are called `url`. Default none.
   */
  readonly replace?: true | ReadonlyArray<string>

  /**
   * Where a file may be missing: at these places, or with `true` anywhere. It is a warning then, and its link gets no
   * `localPath`. Default nowhere: a file that cannot be had fails the fetch.
   */
  readonly optional?: true | ReadonlyArray<string>

  /** Sent to `hosts`, which must be given, and to nobody else: `{ authorization: … }`. Never shown. Default none. */
  readonly headers?: Readonly<Record<string, Secret>>

  /** The largest file, in bytes. Default 8 GiB. */
  readonly maxBytes?: number
}
