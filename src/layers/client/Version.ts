import { fileName } from "../../files/fileName.ts"
import type { Content } from "./Content.ts"
import { type Media, preload } from "./preload.ts"
import { request } from "./request.ts"

/** The manifest; see `docs/wire.md`, section 9. */
export interface Manifest {
  readonly schemaVersion: number
  readonly versionId: string
  readonly versionPath: string
  readonly sources: ReadonlyArray<{ readonly sourceId: string; readonly path: string }>
  /** Digest of the list of files. */
  readonly filesSha256?: string | undefined
  /** Set while the active version is held; `waiting` is the id of the version that waits. */
  readonly held?: { readonly waiting?: string }
}

/** Whether the content is the same. Ids are not enough: a machine without a clock battery may reuse an id after a restart. */
export const isSame = (one: Manifest | undefined, other: Manifest | undefined): boolean =>
  one?.versionId === other?.versionId && one?.filesSha256 === other?.filesSha256

/**
 * A record of a table: its id, and the cells that are not empty.
 *
 * @since 0.1.0
 * @category models
 */
export interface Row {
  readonly id: string
  readonly [field: string]: unknown
}

/**
 * Reads a table: with its type if `Content` has the source, or else as records or with the type that the caller gives.
 * The compiler reports a mistake for the last signature.
 *
 * @since 0.1.0
 * @category models
 */
export interface ReadTable {
  <Table = ReadonlyArray<Row>, Source extends string = string>(
    source: Source & Unknown<Source>,
    name: string
  ): Promise<Table>
  <Source extends keyof Content & string, Name extends keyof Content[Source] & string>(
    source: Source,
    name: Name
  ): Promise<Content[Source][Name]>
}

/** `never` if `Content` has the source, so that an unknown table is a mistake. */
type Unknown<Source extends string> = Source extends keyof Content ? never : Source

/**
 * A complete version of the content. It never changes.
 *
 * @since 0.1.0
 * @category models
 */
export interface Version {
  readonly id: string

  /** The address of a file, by its path in the folder of the source, for example the `localPath` of an attachment. Throws if the path is empty. */
  readonly url: (source: string, path: string) => string

  /** Whether there is such a file, for example subtitles beside a film. */
  readonly has: (source: string, path: string) => boolean

  /**
   * The attributes of a `<picture>`, with which the browser selects the size for the screen. `file` is an attachment, a link with
   * `localPath` and `sizes`, or a path. Addresses are as from `url`. `Picture` has an example in JSX.
   */
  readonly picture: (source: string, file: string | PictureFile) => Picture

  /** A table by its name: its records, or the object of a key/value table. */
  readonly table: ReadTable

  /**
   * Returns elements for the page in the order of the addresses: decoded pictures, and videos that can play. Loads six at a time,
   * each within 30 seconds; rejects if one fails. Each call returns new elements.
   */
  readonly preload: (urls: ReadonlyArray<string>) => Promise<ReadonlyArray<Media>>

  /** Reports a part that cannot be shown to the operator: one line of at most 500 characters. */
  readonly problem: (text: string) => void
}

export interface Context {
  /** The address of the content. */
  readonly content: string
  readonly signal: AbortSignal
  readonly report: (text: string) => void
  /** Every address that the page used, by the path that is the same in all versions. */
  readonly used: Map<string, string>
  /** Addresses of the files that the browser keeps, by the same paths. */
  readonly kept: ReadonlyMap<string, string> | undefined
}

/** The `files.json` of a version. */
export interface FileList {
  readonly sources: ReadonlyArray<{
    readonly sourceId: string
    readonly files: Readonly<Record<string, { readonly sha256: string }>>
  }>
}

/** The digest of a file. */
type DigestOf = (sourceId: string, path: string) => string | undefined

/** Files that refer to no other files: their addresses may be outside the folder of the version. */
const isAlone =
  /\.(avif|gif|jpe?g|jxl|png|webp|mp4|m4v|mov|webm|ogv|aac|flac|m4a|mp3|og[ag]|opus|wav|glb|pdf|otf|ttf|woff2?)$/i

/** Opens a version. The browser loads only files that it does not have from other versions. */
export const openVersion = async (manifest: Manifest, context: Context): Promise<Version> => {
  const { content, kept, signal } = context
  const answer: { path?: string | null } = {}
  const list =
    !kept &&
    // The browser's cache may have the list of different content with this id.
    (await request<FileList>(
      `${content}/${manifest.versionPath}/files.json`,
      { cache: "no-cache", signal },
      ({ headers }) => {
        answer.path = headers.get("Vitrine-Files")
      }
    ).catch((error) => {
      if (signal.aborted) {
        throw error
      }
    }))
  const digestOf: DigestOf = (sourceId, path) =>
    (list || undefined)?.sources.find((source) => source.sourceId === sourceId)?.files[path]?.sha256
  return makeVersion(manifest, context, digestOf, answer.path)
}

/** `shared` is the folder in which the server has files by their digests, at addresses that are the same in all versions. */
export const makeVersion = (
  { schemaVersion, sources, versionId, versionPath }: Manifest,
  { content, kept, report, signal, used }: Context,
  digestOf: DigestOf = () => undefined,
  shared?: string | null
): Version => {
  if (schemaVersion !== 1) {
    throw new Error(`the manifest has the schema ${schemaVersion}, not 1`)
  }

  const pathOf = (sourceId: string, path: string) => {
    const source = sources.find((source) => source.sourceId === sourceId)
    if (!source) {
      throw new Error(`there is no source "${sourceId}"`)
    }
    if (!path) {
      throw new Error(`a file of "${sourceId}" has no path: is there no localPath?`)
    }
    return `${source.path}/${path}`.split("/").map(encodeURIComponent).join("/")
  }

  const address = (sourceId: string, path: string, isShared: boolean) => {
    const inVersion = pathOf(sourceId, path)
    const sha256 = shared && digestOf(sourceId, path)
    // The digits make the address unique for browsers with different content under the same id.
    const place =
      isShared && sha256
        ? `${shared}/${sha256}/${inVersion}`
        : `${versionPath}/${inVersion}${sha256 ? `?${sha256.slice(0, 8)}` : ""}`
    const url = kept?.get(inVersion) ?? `${content}/${place}`
    used.set(inVersion, url)
    return url
  }

  const url = (source: string, path: string) => address(source, path, isAlone.test(path))

  return {
    id: versionId,
    url,
    has: (source, path) => (kept ? kept.has(pathOf(source, path)) : !!digestOf(source, path)),
    picture: (source, file) => pictureOf(file, (path) => url(source, path)),
    table: async <Table>(source: string, name: string) => {
      const table = await request<Table>(address(source, `${fileName(name)}.json`, true), { signal })
      if (!table) {
        throw new Error(`there is no table "${name}" in "${source}"`)
      }
      return table
    },
    preload: (urls) => preload(urls, signal),
    problem: report
  }
}

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
