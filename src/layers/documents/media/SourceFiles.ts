/**
 * The files of a source: which are wanted, what they come to, and where they are in the version (docs/content.md).
 *
 * ```
 * <source id>/media/<name>-<hash>.<extension>    the files of links
 * <source id>/media/files.json                   what tells whether they have changed
 * <source id>/images/…                           smaller pictures
 * ```
 *
 * Links are asked for at each fetch: once for each that the version before has, unless the document proves that it is still the same.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import { flow, identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import type * as Redacted from "effect/Redacted"
import { excerpt, printableLine } from "../../../internal/printable.ts"
import { sha256OfText } from "../../../internal/sha256.ts"
import { explain } from "../../../internal/systemError.ts"
import type { AttachmentProgress, FetchTarget, SourceFile } from "../../../services/ContentSource.ts"
import { DocumentNotSaved } from "../Document.ts"
import type { ImageOptions } from "../images/ImageOptions.ts"
import { savedText, sorted } from "../sortedJson.ts"
import { warningsOf } from "./errors.ts"
import { mediaFolder } from "./fileNames.ts"
import { type Finding, type FoundMedia, makeChange, makeSearch, type SearchedDocument } from "./findMedia.ts"
import { withoutSignatures } from "./links.ts"
import type * as MediaDownload from "./MediaDownload.ts"
import * as MediaFiles from "./MediaFiles.ts"
import * as MediaIndex from "./MediaIndex.ts"
import type { MediaOptions } from "./MediaOptions.ts"
import * as PictureSizes from "./PictureSizes.ts"
import type { MediaReader, Placement } from "./placeMedia.ts"
import * as Rules from "./Rules.ts"
import type { WantedFile } from "./WantedFile.ts"

/** The options about files. */
export interface FileOptions {
  readonly media?: MediaOptions | false
  readonly images?: ImageOptions
  readonly maxTimeout?: number
}

export interface FileSettings extends Pick<MediaDownload.Options, "maxAttachment"> {
  /** Finds the media objects of a vendor, in addition to the options. */
  readonly reader?: MediaReader
  /**
   * Where documents came from that do not say so: relative links are relative to it, and where it is a local address, files may come
   * from the same host.
   */
  readonly url?: string
  /** Sent to the origin of `url` only; names in lower case. Default none. */
  readonly serverHeaders?: Readonly<Record<string, Redacted.Redacted>>
  /** Takes secrets out of words that have something of the documents in them. Default none. */
  readonly hide?: (text: string) => string
}

/** What a fetch wants. */
export interface FilesTarget extends Pick<FetchTarget, "directory" | "previous"> {
  /** The links of all documents. */
  readonly found: FoundMedia
  /** Files whose places are known beforehand. */
  readonly attached: ReadonlyArray<WantedFile>
  /** What is known of the linked files of `previous`; None to read it. */
  readonly index: Option.Option<MediaIndex.MediaIndex>
  readonly progress: (latest: WantedFile, progress: AttachmentProgress) => Effect.Effect<void>
}

export const make = Effect.fnUntraced(function* (
  { images, maxTimeout = defaultTimeout, media }: FileOptions,
  { hide = identity, maxAttachment, reader, ...server }: FileSettings
) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const hasLinks = media !== false && (media ?? reader) !== undefined
  const options: Partial<MediaOptions> = media === false || media === undefined ? {} : media
  const files = yield* MediaFiles.make(
    { ...options, ...server, ...(maxAttachment && { maxAttachment }) },
    maxTimeout
  )
  const makePictures = yield* PictureSizes.make(images, hide)
  const finding: Finding = {
    rules: Rules.fromOptions(options),
    reader: hasLinks ? reader : undefined,
    url: server.url,
    wantsPictures: images !== undefined
  }

  /** A digest of what is added to documents: paths and contents of files, and the options that decide where they are written. */
  const digestOf = (linked: ReadonlyArray<MediaFiles.MediaFile>): string => {
    const { find, hosts, replace, types } = options
    return sha256OfText(
      JSON.stringify([
        [find, hosts, replace, types, images],
        linked.map(({ entry, key, sha256 }) => [key, entry.path, sha256]).sort()
      ])
    )
  }

  const writeIndex = Effect.fnUntraced(function* (index: MediaIndex.MediaIndex, directory: string) {
    const text = `${savedText(sorted(index))}\n`
    yield* Effect.mapError(
      fileSystem.writeFileString(path.join(directory, MediaIndex.indexPath), text),
      (cause) => notSaved(MediaIndex.indexPath, `it cannot be written: ${explain(cause)}`, cause)
    )
    return { [MediaIndex.indexPath]: sha256OfText(text) }
  })

  const fetchAll = Effect.fnUntraced(function* (target: FilesTarget) {
    const { attached, directory, found, previous, progress } = target
    const index = yield* Option.match(target.index, {
      onNone: () =>
        found.files.size === 0 || Option.isNone(previous)
          ? Effect.succeed({})
          : MediaIndex.read(previous.value),
      onSome: Effect.succeed
    })
    if (found.files.size > 0) {
      yield* Effect.mapError(
        fileSystem.makeDirectory(path.join(directory, mediaFolder), { recursive: true }),
        (cause) => notSaved(mediaFolder, `it cannot be made: ${explain(cause)}`, cause)
      )
    }
    const wanted = new Map(found.files)
    for (const file of attached) {
      if (!wanted.has(file.identity)) wanted.set(file.identity, file)
    }
    const fetched = yield* files.fetchAll(
      [...wanted.values()].map((file) => ({ ...file, hide })),
      { directory, previous, index, progress }
    )
    const media = fetched.media.filter(isLinked)

    /** Makes everything part of the version; `own` are digests of files that the source itself has put there. */
    const place = Effect.fnUntraced(function* (own: Readonly<Record<string, string>>) {
      const taken = yield* fetched.takeOver
      const digests = Object.fromEntries(taken.map(({ entry, sha256 }) => [entry.path, sha256]))
      const byIdentity = new Map(taken.filter(isLinked).map((file) => [file.wanted.identity, file]))
      const pictures = yield* makePictures(
        { ...found, media: byIdentity, digests: { ...own, ...digests } },
        target
      )
      const placement: Placement = {
        place: (found) =>
          Option.map(Option.fromNullable(byIdentity.get(found.identity)), ({ entry }) => ({
            localPath: entry.path,
            ...Option.match(pictures.sizesOf(found), {
              onNone: () => ({}),
              onSome: (sizes) => ({ sizes })
            })
          })),
        sizesOf: pictures.sizesOfOwn,
        leftOut: () => {}
      }
      const all: Readonly<Record<string, string>> = {
        ...digests,
        ...Record.map(pictures.files, ({ sha256 }) => sha256),
        ...(byIdentity.size === 0 ? {} : yield* writeIndex(indexOf(media), directory))
      }
      return {
        digests: all,
        /** Gives what a document has with the places of its files. */
        change: (document: SearchedDocument) => makeChange(document, finding, () => placement),
        flaws: pictures.warnings,
        bytes: sizeOf(Object.values(pictures.files))
      }
    })

    return {
      digest: digestOf(media),
      index: indexOf(media),
      attachments: {
        total: fetched.media.length,
        bytes: fetched.bytes,
        reused: fetched.media.filter(({ isKept }) => isKept).length
      },
      warnings: [...found.warnings, ...warningsOf(fetched.errors)],
      place
    }
  })

  return {
    /** Whether documents get places of files: they wait for these, and are written then. */
    isWanted: hasLinks || images !== undefined,
    /** What is content where files are saved: what links lead to; they may be signed anew in each answer. */
    lasting: (lasting: (value: unknown) => unknown) =>
      hasLinks ? flow(lasting, withoutSignatures) : lasting,
    search: (document: SearchedDocument) => makeSearch(document, finding),
    fetchAll,
    /** What is wrong where there are records, but no link at all that `find` is about. */
    nothingFound: (
      { files, near }: FoundMedia,
      records: number
    ): Effect.Effect<ReadonlyArray<string>, DocumentNotSaved> =>
      options.find === undefined || files.size > 0 || records === 0
        ? Effect.succeed([])
        : Option.isSome(near)
          ? notSaved(
              near.value.document,
              `"media.find" (${excerpt(options.find.join(", "))}) finds no link, but there are some a level deeper, as where a field is in several languages: "${hide(printableLine(near.value.pattern, 200))}"`
            )
          : Effect.succeed([
              `"media.find" finds no link in any document (${excerpt(options.find.join(", "))}); "vitrine check" with the id of the source lists where links are`
            ])
  }
})

const defaultTimeout = 60_000

const isLinked = ({ wanted }: MediaFiles.MediaFile): boolean => wanted.attachment === undefined

const indexOf = (media: ReadonlyArray<MediaFiles.MediaFile>): MediaIndex.MediaIndex =>
  Object.fromEntries(media.map(({ entry, key }) => [key, entry]))

const sizeOf = (files: ReadonlyArray<SourceFile>): number => files.reduce((sum, { size }) => sum + size, 0)

const notSaved = (document: string, detail: string, cause?: Error) =>
  new DocumentNotSaved({ document, detail, cause })
