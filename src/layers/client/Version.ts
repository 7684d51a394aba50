import type { Content } from "./Content.ts"
import { type Picture, type PictureFile, pictureOf } from "./picture.ts"
import { type Media, preload } from "./preload.ts"
import { request } from "./request.ts"

/** What the manifest says; see `docs/wire.md`, section 9. */
export interface Manifest {
  readonly schemaVersion: number
  readonly versionId: string
  readonly versionPath: string
  readonly sources: ReadonlyArray<{ readonly sourceId: string; readonly path: string }>
  /** Digest of the list of files. */
  readonly filesSha256?: string | undefined
  /** While the active version is held, with the one that waits behind it. */
  readonly held?: { readonly waiting?: string }
}

/** Whether the content is the same. A machine without a battery for its clock may give an id to other content after a restart. */
export const isSame = (one: Manifest | undefined, other: Manifest | undefined): boolean =>
  one?.versionId === other?.versionId && one?.filesSha256 === other?.filesSha256

/** A record of a table: its id, and the cells that are not empty. */
export interface Row {
  readonly id: string
  readonly [field: string]: unknown
}

/**
 * Reads a table: of a source that `Content` knows with its type, of another one as records, or as what the caller says it is.
 * What the compiler has to say of a mistake is about the last signature.
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

/** Nothing where `Content` knows the source: a table that it has not is a mistake. */
type Unknown<Source extends string> = Source extends keyof Content ? never : Source

/** One version of the content, whole and never changed. */
export interface Version {
  readonly id: string

  /** The address of a file, by its path in the folder of the source: the `localPath` of an attachment, for example. Throws without one. */
  readonly url: (source: string, path: string) => string

  /**
   * What a `<picture>` needs to show a file in the size that the screen wants, as an attachment or a link has it beside its
   * `localPath`, or of a path alone. All addresses are as `url` gives them. `Picture` shows how it is spread in JSX.
   */
  readonly picture: (source: string, file: string | PictureFile) => Picture

  /** A table by its name: its records, or the object of a key/value table. */
  readonly table: ReadTable

  /**
   * Pictures that are decoded, videos that can be played: elements for the page, in the order of the addresses. Six are loaded
   * at a time, for half a minute each; one that fails fails them all. The elements are new each time, for use in one place.
   */
  readonly preload: (urls: ReadonlyArray<string>) => Promise<ReadonlyArray<Media>>

  /** Tells the operator what cannot be shown, though the rest can: one line of 500 characters. */
  readonly problem: (text: string) => void
}

export interface Context {
  /** Where the content is. */
  readonly content: string
  readonly signal: AbortSignal
  readonly report: (text: string) => void
  /** Every address that was asked for, by the path that is the same in all versions. */
  readonly used: Map<string, string>
  /** Addresses of what is kept in the browser, by the same paths. */
  readonly kept: ReadonlyMap<string, string> | undefined
}

/** The `files.json` of a version. */
export interface FileList {
  readonly sources: ReadonlyArray<{
    readonly sourceId: string
    readonly files: Readonly<Record<string, { readonly sha256: string }>>
  }>
}

/** The digest of a file, and the folder in which the server has it under an address that is the same in all versions. */
type ByDigest = (
  sourceId: string,
  path: string
) => { readonly sha256: string; readonly shared: string } | undefined

/** Files that refer to no file beside them: the address of such a file need not be beside the others of its version. */
const isAlone =
  /\.(avif|gif|jpe?g|jxl|png|webp|mp4|m4v|mov|webm|ogv|aac|flac|m4a|mp3|og[ag]|opus|wav|glb|pdf|otf|ttf|woff2?)$/i

/** A version whose files are loaded only where the browser does not have them of another one. */
export const openVersion = async (manifest: Manifest, context: Context): Promise<Version> => {
  const { content, kept, signal } = context
  const answer: { path?: string | null } = {}
  const list =
    !kept &&
    // The browser may have the list of other content with this id.
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
  const { path: shared } = answer
  return makeVersion(manifest, context, (sourceId, path) => {
    const source = list && shared ? list.sources.find((source) => source.sourceId === sourceId) : undefined
    const sha256 = source?.files[path]?.sha256
    return sha256 && shared ? { sha256, shared } : undefined
  })
}

export const makeVersion = (
  { schemaVersion, sources, versionId, versionPath }: Manifest,
  { content, kept, report, signal, used }: Context,
  byDigest: ByDigest = () => undefined
): Version => {
  if (schemaVersion !== 1) {
    throw new Error(`the manifest has the schema ${schemaVersion}, not 1`)
  }

  const address = (sourceId: string, path: string, isShared: boolean) => {
    const source = sources.find((source) => source.sourceId === sourceId)
    if (!source) {
      throw new Error(`there is no source "${sourceId}"`)
    }
    if (!path) {
      throw new Error(`a file of "${sourceId}" has no path: is there no localPath?`)
    }
    const inVersion = `${source.path}/${path}`.split("/").map(encodeURIComponent).join("/")
    const { sha256, shared } = byDigest(sourceId, path) ?? {}
    // The digits behind an address of this version are for browsers that have other content of the same id.
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

/** As the controller names the file of a table: what some system cannot store is escaped. */
export const fileName = (name: string): string =>
  name.replace(
    /[\x00-\x1f\x7f-\x9f<>:"/\\|?*%]|^\.|[. ]$/g,
    (character) => `%${`0${character.charCodeAt(0).toString(16)}`.slice(-2).toUpperCase()}`
  )
