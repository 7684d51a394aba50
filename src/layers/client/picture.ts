/**
 * A file in a document; with `sizes` if the source has the option `images`.
 *
 * @since 0.1.0
 * @category models
 */
export interface PictureFile {
  readonly localPath: string
  readonly sizes?: ReadonlyArray<{
    readonly localPath: string
    readonly width: number
    readonly height: number
    /** For example `image/webp`. */
    readonly type: string
  }>
}

/**
 * A file in a cell of a table of Airtable, if the source saves it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Attachment extends PictureFile {
  readonly id: string
  /** The name that the editors of the table gave the file. */
  readonly filename: string
  /** In bytes. */
  readonly size?: number
  /** For example `image/jpeg`. */
  readonly type?: string
  /** Size of a picture in pixels. */
  readonly width?: number
  readonly height?: number
}

/**
 * The attributes of a `<picture>`, except `sizes`, the width of the picture on the screen. In JSX, with
 * `const { sources, ...image } = version.picture(…)`:
 *
 * ```tsx
 * <picture>
 *   {sources.map(({ srcset, type }) => <source key={type} type={type} srcSet={srcset} sizes="50vw" />)}
 *   <img {...image} alt={alt} />
 * </picture>
 * ```
 *
 * @since 0.1.0
 * @category models
 */
export interface Picture {
  /** For the `<img>`: the largest picture of the last type, for browsers that support no other type. Without sizes, the file itself. */
  readonly src: string
  /** Size of the picture at `src`, in pixels; absent without sizes. */
  readonly width?: number
  readonly height?: number
  /** A `<source>` for each type, the attribute `srcset` as in HTML (`srcSet` in JSX). A browser takes the first type that it knows. */
  readonly sources: ReadonlyArray<{ readonly type: string; readonly srcset: string }>
}

export const pictureOf = (file: string | PictureFile, url: (path: string) => string): Picture => {
  const { localPath, sizes = [] } = typeof file === "string" ? { localPath: file } : file
  const srcsets = new Map<string, string>()
  let img: Pick<Picture, "src" | "width" | "height"> | undefined
  for (const { height, localPath, type, width } of sizes) {
    const src = url(localPath)
    const before = srcsets.get(type)
    srcsets.set(type, `${before ? `${before}, ` : ""}${src} ${width}w`)
    img = { src, width, height }
  }
  return {
    ...(img ?? { src: url(localPath) }),
    sources: [...srcsets].map(([type, srcset]) => ({ type, srcset }))
  }
}
