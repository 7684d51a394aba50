/**
 * The files of a source: which files are wanted, their contents, and their places in the version (docs/content.md).
 *
 * ```
 * <source id>/media/<name>-<hash>.<extension>    the files of links
 * <source id>/media/files.json                   the index of files, see mediaIndex.ts
 * <source id>/images/…                           smaller pictures
 * ```
 *
 * Each fetch sends one request for each file of the last version, unless the document proves that the file is
 * unchanged.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import type * as Redacted from "effect/Redacted"
import { sha256OfText } from "../../../files/sha256.ts"
import { explain } from "../../../files/systemError.ts"
import { excerpt, printableLine } from "../../../internal/printable.ts"
import {
  type AttachmentProgress,
  type FetchTarget,
  type SourceFile,
  SourceFolder
} from "../../../services/ContentSource.ts"
import type { SourceError } from "../../../services/SourceError.ts"
import type { Warning } from "../../../services/Warning.ts"
import { makeDownloadCounter } from "../../httpClient/downloadCounter.ts"
import { failedIn } from "../Document.ts"
import type { DocumentOnDisk, DocumentPart } from "../documentFile.ts"
import * as Images from "../images/Images.ts"
import { filesAtOnce } from "../progress.ts"
import { warn } from "../warnings.ts"
import { type LinkPlace, problemAt, problemPlace, type WantedFile, warningsOf } from "./FileProblem.ts"
import { type Finding, type FoundMedia, type FoundPicture, makeChange, pictureKey } from "./findMedia.ts"
import { keyOf, rulesOf } from "./links.ts"
import type * as MediaDownload from "./MediaDownload.ts"
import * as MediaFiles from "./MediaFiles.ts"
import type { ImageOptions, MediaOptions } from "./MediaOptions.ts"
import {
  flawsOf,
  type IndexedFile,
  indexOf,
  type MediaIndex,
  ownFlawed,
  readIndex,
  withFlaw,
  writeIndex
} from "./mediaIndex.ts"
import { mediaFolder } from "./mediaTypes.ts"
import { type FoundLink, type MediaReader, ownIdentity, type Placed } from "./placeMedia.ts"
import type { Flaw } from "./verdict.ts"

/** The options about files. */
export interface FileOptions {
  /** The id of the source. */
  readonly id: string
  readonly media?: MediaOptions | false
  readonly images?: ImageOptions
  readonly maxTimeout?: number
}

export interface FileSettings extends Pick<MediaDownload.Options, "maxAttachment"> {
  /**
   * The address of documents without their own: relative links are relative to it. If it is a local address, files
   * may come from the same host.
   */
  readonly url?: string | undefined
  /** Whether the vendor fixes the paths of files, so that its links are not content. Default false. */
  readonly hasFixedPaths?: boolean
  /** Sent to the origin of `url` only; names in lower case. Default none. */
  readonly serverHeaders?: Readonly<Record<string, Redacted.Redacted>>
}

/** The files that a fetch wants. */
export interface FilesTarget extends Pick<FetchTarget, "directory" | "previous"> {
  /** The links of all documents. */
  readonly found: FoundMedia
  readonly finding: Finding
  /** The digests of the source's own files, by their paths. */
  readonly own: Readonly<Record<string, string>>
  /** The flaws of those files, which are only kept. */
  readonly ownFlaws: Readonly<Record<string, Flaw>>
  /** The index of `previous`; `undefined` to read it. */
  readonly index: MediaIndex | undefined
  readonly progress: (latest: WantedFile, progress: AttachmentProgress) => Effect.Effect<void>
  /** Called while pictures are made, four times a second at most. */
  readonly pictureProgress: Effect.Effect<void>
}

/** The files in the version. */
export interface PlacedFiles {
  readonly digests: Readonly<Record<string, string>>
  /** Writes the paths of files into the parts of a document; missing if documents get no paths. */
  readonly change:
    | ((document: DocumentOnDisk) => (part: DocumentPart) => Generator<void, ReadonlyArray<unknown>>)
    | undefined
  readonly index: MediaIndex
  /** The total size of the made pictures in bytes. */
  readonly bytes: number
}

/** The files of a source, for its fetches. */
export interface SourceFiles {
  readonly options: FileOptions
  readonly settings: FileSettings
  readonly mediaFiles: Effect.Effect.Success<ReturnType<typeof MediaFiles.make>>
  /** Makes smaller pictures, if there are any. */
  readonly maker: Maker | undefined
}

type Maker = Effect.Effect.Success<ReturnType<typeof Images.make>>

export const make = Effect.fnUntraced(function* (options: FileOptions, settings: FileSettings) {
  const { id, images, maxTimeout = defaultTimeout } = options
  const path = yield* Path.Path
  const mediaFiles = yield* MediaFiles.make({ ...mediaOf(options), ...settings }, maxTimeout)
  const folder = Option.map(yield* SourceFolder, (folder) => path.join(folder, `${id}.images`))
  const maker = images && (yield* Images.make(images, folder))
  return { options, settings, mediaFiles, maker } satisfies SourceFiles
})

const mediaOf = ({ media = false }: FileOptions): Partial<MediaOptions> => (media === false ? {} : media)

/** The search for files, with the vendor's reader. */
export const findingOf = ({ options, settings }: SourceFiles, reader: MediaReader | undefined): Finding => {
  const { images, media } = options
  const hasLinks = media !== false && (media ?? reader) !== undefined
  return {
    isWanted: hasLinks || images !== undefined,
    rules: rulesOf(mediaOf(options)),
    reader: hasLinks ? reader : undefined,
    url: settings.url,
    wantsPictures: images !== undefined,
    areLinksSigned: hasLinks && !(settings.hasFixedPaths === true && media === undefined)
  }
}

/** Fetches the files of links. The effect `place` of the result puts them into the folder. */
export const fetchAll = Effect.fnUntraced(function* (
  { maker, mediaFiles, options }: SourceFiles,
  target: FilesTarget
) {
  const { directory, finding, found, own, previous, progress } = target
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const wantsIndex = found.files.size > 0 || found.pictures.size > 0
  const before = target.index ?? (wantsIndex ? yield* readIndex(previous) : {})
  if ([...found.files.values()].some(({ localPath }) => localPath === undefined)) {
    yield* Effect.mapError(
      fileSystem.makeDirectory(path.join(directory, mediaFolder), { recursive: true }),
      (cause) => notSaved(mediaFolder, `it cannot be made: ${explain(cause)}`, cause)
    )
  }
  const fetched = yield* mediaFiles.fetchAll([...found.files.values()], {
    directory,
    previous,
    index: before,
    progress
  })
  const flawBefore = flawsOf(before, previous)
  const ownPictures = ownPicturesOf(found, own)
  const named = (media: ReadonlyArray<MediaFiles.MediaFile>): ReadonlyArray<NamedFile> =>
    [...ownPictures, ...media.map(namedFile)].map((file) =>
      withFlaw(file, file.entry.flaw ?? flawBefore(file.entry.path, file.sha256))
    )
  const files = named(fetched.media)
  const paths = new Set([...Object.keys(own), ...fetched.media.map(({ entry }) => entry.path)])
  const missing = [...found.pictures.values()].flatMap(({ ownPath, place }) =>
    ownPath === undefined || paths.has(ownPath)
      ? []
      : [
          {
            place: problemPlace(place),
            wrong: "sizes" as const,
            file: ownPath,
            detail: "the source has no such file."
          }
        ]
  )
  return {
    digest:
      finding.areLinksSigned || options.images !== undefined
        ? Option.some(digestOf(options, fetched.media.filter(isLinked)))
        : Option.none<string>(),
    /** The index if nothing has changed. */
    index: indexOf(files),
    attachments: {
      total: fetched.media.length,
      bytes: MediaFiles.sizeOf(fetched.media),
      reused: fetched.media.filter(({ isKept }) => isKept).length
    },
    /** All warnings, with those about the files of the index, at the places of the documents. */
    warningsOf: (index: MediaIndex): ReadonlyArray<Warning> => {
      const flawed = files.flatMap(({ key, place }) => {
        const { flaw, path } = index[key] ?? {}
        return flaw === undefined
          ? []
          : [{ place: problemPlace(place), wrong: flaw.wrong, detail: flaw.detail, file: path }]
      })
      return [...found.warnings, ...warningsOf([...fetched.problems, ...missing, ...flawed])]
    },
    /** Makes everything part of the version. */
    place: Effect.flatMap(fetched.place, (saved) => placeAll(maker, target, saved, named(saved), flawBefore))
  }
})

/** Makes smaller pictures of the saved files, and writes the index. `files` are those that documents name. */
const placeAll = Effect.fnUntraced(function* (
  maker: Maker | undefined,
  target: FilesTarget,
  saved: ReadonlyArray<MediaFiles.MediaFile>,
  files: ReadonlyArray<NamedFile>,
  flawBefore: ReturnType<typeof flawsOf>
) {
  const { directory, finding, own, ownFlaws } = target
  const digests = Object.fromEntries(saved.map(({ entry, sha256 }) => [entry.path, sha256]))
  const placed: FilesByIdentity = new Map([
    ...Object.entries({ ...own, ...digests }).map(
      ([localPath, sha256]) => [ownIdentity(localPath), { localPath, sha256 }] as const
    ),
    ...saved
      .filter(isLinked)
      .map(({ entry, sha256, wanted }) => [wanted.identity, { localPath: entry.path, sha256 }] as const)
  ])
  const pictures: Pictures =
    maker === undefined ? noPictures : yield* makePictures(maker, target, placed, flawBefore)
  const placeOf = (link: FoundLink): Placed | undefined => {
    const file = placed.get(link.identity)
    return file && { localPath: file.localPath, sizes: pictures.sizes.get(pictureKey(link)) }
  }
  const index = {
    ...indexOf(files.map((file) => withFlaw(file, flawAfter(pictures, file)))),
    ...ownFlawed(ownFlaws)
  }
  return {
    digests: {
      ...digests,
      ...Record.map(pictures.files, ({ sha256 }) => sha256),
      ...(yield* writeIndex(index, directory, Object.keys(own)))
    },
    change: finding.isWanted ? ({ about }) => makeChange(about, finding, placeOf) : undefined,
    index,
    bytes: MediaFiles.sizeOf(Object.values(pictures.files))
  } satisfies PlacedFiles
})

/**
 * A digest of the additions to documents: paths and contents of linked files, and the options that decide where they
 * are written.
 */
const digestOf = (options: FileOptions, linked: ReadonlyArray<MediaFiles.MediaFile>): string => {
  const { find, hosts, replace, types } = mediaOf(options)
  return sha256OfText(
    JSON.stringify([
      [find, hosts, replace, types, options.images],
      linked.map(({ entry, key, sha256 }) => [key, entry.path, sha256]).sort()
    ])
  )
}

/** The mistake, or else the warning, if there are records, but `find` matches no link at all. */
export const nothingFound = (
  { options }: SourceFiles,
  { elsewhere, files }: FoundMedia,
  records: number
): Effect.Effect<ReadonlyArray<Warning>, SourceError> => {
  const { find } = mediaOf(options)
  return find === undefined || files.size > 0 || records === 0
    ? Effect.succeed([])
    : elsewhere !== undefined
      ? notSaved(
          elsewhere.document,
          `"media.find" (${excerpt(find.join(", "))}) finds no link, but there are links to files, the first at "${printableLine(elsewhere.field, 200)}". Correct "find", or leave it out if no file is to be saved`
        )
      : Effect.succeed([warn("media:nothing", "", { find: find.join(", ") })])
}

const defaultTimeout = 60_000

const isLinked = ({ wanted }: MediaFiles.MediaFile): boolean => wanted.localPath === undefined

/** A file that documents name, with the place of a link to it. */
interface NamedFile extends IndexedFile {
  readonly place: LinkPlace
}

const namedFile = (file: MediaFiles.MediaFile): NamedFile => ({
  key: file.key,
  entry: file.entry,
  sha256: file.sha256,
  place: file.wanted.place,
  isLinked: isLinked(file)
})

/** The pictures that the source itself has put beside objects; `own` are the digests of its files. */
const ownPicturesOf = ({ pictures }: FoundMedia, own: FilesTarget["own"]): ReadonlyArray<NamedFile> =>
  [...pictures.values()].flatMap(({ identity, ownPath: path = "", place }) =>
    Option.match(Record.get(own, path), {
      onNone: () => [],
      onSome: (sha256) => [{ key: keyOf(identity), entry: { path }, sha256, place, isLinked: false }]
    })
  )

const notSaved = (document: string, detail: string, cause?: Error) => failedIn({ document })(detail, cause)

/** The smaller pictures that were made. */
interface Pictures {
  /** By their paths in the folder of the source. */
  readonly files: Readonly<Record<string, SourceFile>>
  /** The sizes of pictures, by the keys of the pictures. */
  readonly sizes: ReadonlyMap<string, ReadonlyArray<Images.Size>>
  /** The flaws of the files whose sizes were to be made, by the paths of the files; `undefined` if there is no flaw. */
  readonly flaws: ReadonlyMap<string, Flaw | undefined>
}

const noPictures: Pictures = { files: {}, sizes: new Map(), flaws: new Map() }

/** The flaw of a file after its sizes were made. An earlier flaw about its sizes is not kept. */
const flawAfter = ({ flaws }: Pictures, { entry: { flaw, path } }: NamedFile): Flaw | undefined =>
  flaws.has(path) && flaw?.wrong !== "cut" ? flaws.get(path) : flaw?.wrong === "sizes" ? undefined : flaw

/** Files in the folder of the source, by their identities. */
type FilesByIdentity = ReadonlyMap<string, { readonly localPath: string; readonly sha256: string }>

/** Makes the sizes of linked pictures, and of pictures that the source itself has put beside objects. */
const makePictures = Effect.fnUntraced(function* (
  { derive, tidy }: Maker,
  { directory, found, pictureProgress, previous }: FilesTarget,
  files: FilesByIdentity,
  flawBefore: ReturnType<typeof flawsOf>
) {
  const path = yield* Path.Path
  const target = { directory, previous, made: new Map() }
  const flaws = new Map<string, Flaw | undefined>()

  const sizesOf = Effect.fnUntraced(function* ([key, picture]: readonly [string, FoundPicture]) {
    const { cut, identity, isOptional, place } = picture
    const file = files.get(identity)
    if (file === undefined) return { key, derived: Images.nothing }
    const { localPath } = file
    const before = flawBefore(localPath, file.sha256)
    const input = {
      ...cut,
      ...file,
      file: path.join(directory, localPath),
      warning: before?.wrong === "picture" ? before.detail : undefined
    }
    return yield* derive(input, target).pipe(
      Effect.map((derived) => {
        const warning = Option.map(derived.warning, (detail): Flaw => ({ wrong: "picture", detail }))
        if (derived.sizes.length > 0) {
          flaws.set(localPath, flaws.get(localPath) ?? Option.getOrUndefined(warning))
        }
        return { key, derived }
      }),
      Effect.catchAll(({ detail }) => {
        const flaw: Flaw = { wrong: "sizes", detail }
        flaws.set(localPath, flaw)
        return isOptional
          ? Effect.succeed({ key, derived: Images.nothing })
          : problemAt(place, { ...flaw, file: localPath })
      })
    )
  })

  const none = { done: 0, bytes: 0 }
  const counter = yield* makeDownloadCounter(found.pictures.size, none, () => pictureProgress)
  const all = yield* Effect.forEach(
    found.pictures,
    (picture) => Effect.zipLeft(sizesOf(picture), counter.fileDone(picture)),
    { concurrency: filesAtOnce }
  )
  yield* tidy(target)
  return {
    files: Object.assign({}, ...all.map(({ derived }) => derived.files)),
    sizes: new Map(
      all.flatMap(({ derived: { sizes }, key }) => (sizes.length === 0 ? [] : [[key, sizes] as const]))
    ),
    flaws
  } satisfies Pictures
})
