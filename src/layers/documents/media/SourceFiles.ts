/**
 * The files of a source: which files are wanted, their contents, and their places in the version (docs/content.md).
 *
 * ```
 * <source id>/media/<name>-<hash>.<extension>    the files of links
 * <source id>/media/files.json                   what tells whether they have changed
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
import * as Schema from "effect/Schema"
import { unfinishedFile } from "../../../files/durable.ts"
import { foldCase } from "../../../files/fileName.ts"
import { sha256OfText } from "../../../files/sha256.ts"
import { explain, move } from "../../../files/systemError.ts"
import { excerpt, printableLine } from "../../../internal/printable.ts"
import type { AttachmentProgress, FetchTarget, SourceFile } from "../../../services/ContentSource.ts"
import { SourceError } from "../../../services/SourceError.ts"
import { failedIn, fileBefore } from "../Document.ts"
import type { DocumentOnDisk, DocumentPart } from "../documentFile.ts"
import * as Images from "../images/Images.ts"
import { notShown } from "../images/pictureFormat.ts"
import { savedText, sorted } from "../jsonValues.ts"
import { filesAtOnce } from "../progress.ts"
import { type FileProblem, problemAt, sourceErrorOf, type WantedFile, warningsOf } from "./FileProblem.ts"
import { type Finding, type FoundMedia, type FoundPicture, makeChange, pictureKey } from "./findMedia.ts"
import { rulesOf } from "./links.ts"
import * as MediaDownload from "./MediaDownload.ts"
import * as MediaFiles from "./MediaFiles.ts"
import type { ImageOptions, MediaOptions } from "./MediaOptions.ts"
import { mediaFolder } from "./mediaTypes.ts"
import { type FoundLink, type MediaReader, ownIdentity, type Placed } from "./placeMedia.ts"

/** The options about files. */
export interface FileOptions {
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
  /** The index of the linked files of `previous`; `undefined` to read it. */
  readonly index: MediaDownload.MediaIndex | undefined
  readonly progress: (latest: WantedFile, progress: AttachmentProgress) => Effect.Effect<void>
}

/** The files in the version. */
export interface PlacedFiles {
  readonly digests: Readonly<Record<string, string>>
  /** Writes the paths of files into the parts of a document; missing if documents get no paths. */
  readonly change: ((document: DocumentOnDisk) => (part: DocumentPart) => ReadonlyArray<unknown>) | undefined
  /** Warnings about pictures. */
  readonly flaws: ReadonlyArray<string>
  /** The total size of the made pictures in bytes. */
  readonly bytes: number
}

/** The files of a source, and their fetches. */
export const make = Effect.fnUntraced(function* (
  { images, maxTimeout = defaultTimeout, media }: FileOptions,
  settings: FileSettings
) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const options: Partial<MediaOptions> = media === false || media === undefined ? {} : media
  const files = yield* MediaFiles.make({ ...options, ...settings }, maxTimeout)
  const derive = images && (yield* Images.make(images)).derive
  /** The search for files, with the vendor's reader. */
  const findingOf = (reader: MediaReader | undefined): Finding => {
    const hasLinks = media !== false && (media ?? reader) !== undefined
    return {
      isWanted: hasLinks || images !== undefined,
      rules: rulesOf(options),
      reader: hasLinks ? reader : undefined,
      url: settings.url,
      wantsPictures: images !== undefined,
      areLinksSigned: hasLinks && !(settings.hasFixedPaths === true && media === undefined)
    }
  }

  /**
   * A digest of the additions to documents: paths and contents of files, and the options that decide where they are
   * written.
   */
  const digestOf = (linked: ReadonlyArray<MediaFiles.MediaFile>): string => {
    const { find, hosts, replace, types } = options
    return sha256OfText(
      JSON.stringify([
        [find, hosts, replace, types, images],
        linked.map(({ entry, key, sha256 }) => [key, entry.path, sha256]).sort()
      ])
    )
  }

  /** `own` are the paths of the source's own files. */
  const writeIndex = Effect.fnUntraced(function* (
    index: MediaDownload.MediaIndex,
    directory: string,
    own: ReadonlyArray<string>
  ) {
    const taken = own.find((path) => foldCase(path) === foldCase(indexPath))
    if (taken !== undefined) {
      return yield* new SourceError({
        place: taken,
        detail: "Vitrine lists the files of links in a file of this name. Rename your file."
      })
    }
    const text = savedText(sorted(index))
    const file = path.join(directory, indexPath)
    const unfinished = unfinishedFile(file)
    yield* Effect.zipRight(fileSystem.writeFileString(unfinished, text), move(unfinished, file)).pipe(
      Effect.provideService(FileSystem.FileSystem, fileSystem),
      Effect.mapError((cause) => notSaved(indexPath, `it cannot be written: ${explain(cause)}`, cause))
    )
    return { [indexPath]: sha256OfText(text) }
  })

  const fetchAll = Effect.fnUntraced(function* (target: FilesTarget) {
    const { directory, finding, found, previous, progress } = target
    const index = target.index ?? (found.files.size > 0 ? yield* readIndex(previous) : {})
    if ([...found.files.values()].some(({ localPath }) => localPath === undefined)) {
      yield* Effect.mapError(
        fileSystem.makeDirectory(path.join(directory, mediaFolder), { recursive: true }),
        (cause) => notSaved(mediaFolder, `it cannot be made: ${explain(cause)}`, cause)
      )
    }
    const fetched = yield* files.fetchAll([...found.files.values()], { directory, previous, index, progress })
    const linked = fetched.media.filter(isLinked)

    /** Makes everything part of the version; `own` are digests of the source's own files. */
    const place = Effect.fnUntraced(function* (own: Readonly<Record<string, string>>) {
      const saved = yield* fetched.takeOver
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
        derive === undefined
          ? { files: {}, sizes: new Map(), problems: unseen(saved) }
          : yield* makePictures(derive, target, placed)
      const placeOf = (link: FoundLink): Placed | undefined => {
        const file = placed.get(link.identity)
        return file && { localPath: file.localPath, sizes: pictures.sizes.get(pictureKey(link)) }
      }
      return {
        digests: {
          ...digests,
          ...Record.map(pictures.files, ({ sha256 }) => sha256),
          ...(linked.length === 0 ? {} : yield* writeIndex(indexOf(linked), directory, Object.keys(own)))
        },
        change: finding.isWanted ? ({ about }) => makeChange(about, finding, placeOf) : undefined,
        flaws: warningsOf(pictures.problems),
        bytes: MediaFiles.sizeOf(Object.values(pictures.files))
      } satisfies PlacedFiles
    })

    return {
      digest:
        finding.areLinksSigned || images !== undefined
          ? Option.some(digestOf(linked))
          : Option.none<string>(),
      index: indexOf(linked),
      attachments: {
        total: fetched.media.length,
        bytes: MediaFiles.sizeOf(fetched.media),
        reused: fetched.media.filter(({ isKept }) => isKept).length
      },
      warnings: [...found.warnings, ...warningsOf(fetched.problems)],
      place
    }
  })

  return {
    findingOf,
    fetchAll,
    /** The mistake if there are records, but `find` matches no link at all. */
    nothingFound: (
      { files, near }: FoundMedia,
      records: number
    ): Effect.Effect<ReadonlyArray<string>, SourceError> =>
      options.find === undefined || files.size > 0 || records === 0
        ? Effect.succeed([])
        : near !== undefined
          ? notSaved(
              near.document,
              `"media.find" (${excerpt(options.find.join(", "))}) finds no link, but there are links one level deeper, perhaps because a field has several languages: "${printableLine(near.pattern, 200)}"`
            )
          : Effect.succeed([
              `"media.find" finds no link in any document (${excerpt(options.find.join(", "))}); "vitrine check" with the id of the source lists where links are`
            ])
  }
})

const defaultTimeout = 60_000

const isLinked = ({ wanted }: MediaFiles.MediaFile): boolean => wanted.localPath === undefined

const indexOf = (linked: ReadonlyArray<MediaFiles.MediaFile>): MediaDownload.MediaIndex =>
  Object.fromEntries(linked.map(({ entry, key }) => [key, entry]))

/** Warnings about pictures that no browser displays. */
const unseen = (files: ReadonlyArray<MediaFiles.MediaFile>): ReadonlyArray<FileProblem> =>
  files.flatMap(({ entry, format, wanted: { place } }) => {
    const detail = format && notShown(format)
    return detail === undefined ? [] : [problemAt(place, { wrong: "picture", file: entry.path, detail })]
  })

const notSaved = (document: string, detail: string, cause?: Error) => failedIn({ document })(detail, cause)

/** Its path in the folder of the source. */
const indexPath = `${mediaFolder}/files.json`

const decodeIndex = Schema.decodeUnknown(Schema.parseJson(MediaDownload.MediaIndex))

/** The index of the last version. If it cannot be read, it is empty, and all files are downloaded. */
const readIndex = Effect.fnUntraced(function* (previous: FetchTarget["previous"]) {
  const fileSystem = yield* FileSystem.FileSystem
  return yield* Effect.flatMap(fileBefore(previous, indexPath), fileSystem.readFileString).pipe(
    Effect.flatMap(decodeIndex),
    Effect.orElseSucceed((): MediaDownload.MediaIndex => ({}))
  )
})

/** The smaller pictures that were made. */
interface Pictures {
  /** By their paths in the folder of the source. */
  readonly files: Readonly<Record<string, SourceFile>>
  /** The sizes of pictures, by the keys of the pictures. */
  readonly sizes: ReadonlyMap<string, ReadonlyArray<Images.Size>>
  /** Why optional pictures have no sizes, and the warnings about pictures that were converted. */
  readonly problems: ReadonlyArray<FileProblem>
}

/** Files in the folder of the source, by their identities. */
type FilesByIdentity = ReadonlyMap<string, { readonly localPath: string; readonly sha256: string }>

/** Makes the sizes of linked pictures, and of pictures that the source itself has put beside objects. */
const makePictures = Effect.fnUntraced(function* (
  derive: Effect.Effect.Success<ReturnType<typeof Images.make>>["derive"],
  { directory, found, previous }: FilesTarget,
  files: FilesByIdentity
) {
  const path = yield* Path.Path
  const target = { directory, previous, made: yield* Images.nothingMade }

  const sizesOf = ([key, picture]: readonly [string, FoundPicture]) => {
    const { cut, identity, isOptional, ownPath, place } = picture
    const without = (...problems: ReadonlyArray<FileProblem>) =>
      Effect.succeed({ key, derived: Images.nothing, problems })
    const file = files.get(identity)
    if (file === undefined) {
      // A missing linked file is optional.
      return ownPath === undefined
        ? without()
        : without(problemAt(place, { wrong: "sizes", file: ownPath, detail: "the source has no such file." }))
    }
    const { localPath } = file
    return derive({ ...cut, ...file, file: path.join(directory, localPath) }, target).pipe(
      Effect.map((derived) => ({
        key,
        derived,
        problems: Option.toArray(derived.warning).map((detail) =>
          problemAt(place, { wrong: "picture", file: localPath, detail })
        )
      })),
      Effect.catchAll(({ detail }) => {
        const problem = problemAt(place, { wrong: "sizes", file: localPath, detail })
        return isOptional ? without(problem) : sourceErrorOf(problem)
      })
    )
  }

  const all = yield* Effect.forEach(found.pictures, sizesOf, { concurrency: filesAtOnce })
  return {
    files: Object.assign({}, ...all.map(({ derived }) => derived.files)),
    sizes: new Map(
      all.flatMap(({ derived: { sizes }, key }) => (sizes.length === 0 ? [] : [[key, sizes] as const]))
    ),
    problems: all.flatMap(({ problems }) => problems)
  } satisfies Pictures
})
