/** A file as it stands in a document; with `sizes` where the source has the option `images`. */
export interface PictureFile {
  readonly localPath: string
  readonly sizes?: ReadonlyArray<{
    readonly localPath: string
    readonly width: number
    readonly height: number
    /** `image/webp` for example. */
    readonly type: string
  }>
}

/** A file in a cell of a table, as Airtable has it, where it is saved. */
export interface Attachment extends PictureFile {
  readonly id: string
  /** As the editors of the table have named it. */
  readonly filename: string
  /** In bytes. */
  readonly size?: number
  /** `image/jpeg` for example. */
  readonly type?: string
  /** Size of a picture in pixels. */
  readonly width?: number
  readonly height?: number
}

/**
 * The attributes of a `<picture>`, without `sizes`, which says how wide the picture is on the screen. In JSX, with `sources` and the
 * rest apart (`const { sources, ...image } = version.picture(…)`):
 *
 * ```tsx
 * <picture>
 *   {sources.map(({ srcset, type }) => <source key={type} type={type} srcSet={srcset} sizes="50vw" />)}
 *   <img {...image} alt={alt} />
 * </picture>
 * ```
 */
export interface Picture {
  /** For the `<img>`: the largest picture of the last type, for browsers that support no other. Without sizes, the file itself. */
  readonly src: string
  /** In pixels, of the picture at `src`; absent without sizes. */
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
