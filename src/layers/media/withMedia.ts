/**
 * A source of documents with the files that these link to (docs/content.md).
 *
 * ```
 * <source id>/media/<name>-<hash>.<extension>    the files
 * <source id>/media/files.json                   what tells whether they have changed
 * ```
 *
 * It asks for the files at each fetch of the source: once for each that the version before has, unless the document proves that it
 * is still the same.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Path from "@effect/platform/Path"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import { countText } from "../../internal/readable.ts"
import { linkOrCopy } from "../../internal/reuseFile.ts"
import { sha256OfText } from "../../internal/sha256.ts"
import { explain } from "../../internal/systemError.ts"
import { withoutParentSpan } from "../../internal/withoutParentSpan.ts"
import {
  type ContentSource,
  type FetchedSource,
  type FetchTarget,
  type PreviousContent,
  SourceFailed,
  type SourceProgress
} from "../../services/ContentSource.ts"
import { WaitObserver } from "../../services/WaitObserver.ts"
import type { ImageConfig } from "../images/ImageConfig.ts"
import { isImagePath } from "../images/recipe.ts"
import { savedText, sorted } from "../sources/sortedJson.ts"
import { type FileDigest, rewrite } from "./documentFiles.ts"
import { DocumentNotSaved } from "./errors.ts"
import { isMediaPath, mediaFolder } from "./fileNames.ts"
import {
  changeAll,
  type Finding,
  findMedia,
  type SearchedDocument,
  type SourceDocument
} from "./findMedia.ts"
import * as MediaFiles from "./MediaFiles.ts"
import * as MediaIndex from "./MediaIndex.ts"
import type { MediaOptions } from "./MediaOptions.ts"
import * as PictureSizes from "./PictureSizes.ts"
import type { MediaReader, Placement } from "./placeMedia.ts"
import * as Rules from "./Rules.ts"

export interface MediaSettings extends Partial<MediaOptions> {
  /** Makes smaller pictures of those that documents show, media and files of the source itself. Default none. */
  readonly images?: ImageConfig
  /** Milliseconds for a response to begin, and for every pause in it. Default 60,000. */
  readonly maxTimeout?: number
  /** Finds the media objects of a vendor, whatever else is said. */
  readonly reader?: MediaReader
  /**
   * Where documents came from that do not say so: relative links are relative to it, and where it is a local address, files may come
   * from the same host.
   */
  readonly url?: string
}

type Environment = FileSystem.FileSystem | Path.Path | HttpClient.HttpClient

/**
 * The source, with the files that its documents link to, and smaller pictures of those that are pictures:
 * `withMedia({ find: ["**.image.url"] })(source)` is a source in the place of the other, and so is `withMedia({ images })(source)`, of
 * which only the files of the source itself get sizes.
 */
export const withMedia =
  (settings: MediaSettings) =>
  (source: ContentSource): Effect.Effect<ContentSource, never, Environment | Scope.Scope> =>
    Effect.gen(function* () {
      const environment = yield* withoutParentSpan(Effect.context<Environment>())
      const addMedia = yield* makeAddMedia(settings)
      return {
        ...source,
        fetch: (target) =>
          (target.isSample === true ? source.fetch(target) : fetchWith(source, target, addMedia)).pipe(
            Effect.mapError((cause) =>
              cause instanceof SourceFailed
                ? cause
                : new SourceFailed({
                    sourceId: source.id,
                    cause,
                    isTransient: cause.isTransient
                  })
            ),
            Effect.annotateLogs("source", source.id),
            Effect.provide(environment)
          )
      } satisfies ContentSource
    })

/** What the source itself gave, and what is known of the version before. */
interface Fetched {
  readonly target: FetchTarget
  readonly inner: FetchedSource
  /** Where the source itself has not changed: its folder may be incomplete, and the version before has everything. */
  readonly unchanged: Option.Option<PreviousContent>
  readonly progress: SourceProgress
}

const fetchWith = Effect.fnUntraced(function* <E, R>(
  source: ContentSource,
  target: FetchTarget,
  addMedia: (fetched: Fetched) => Effect.Effect<FetchedSource, E, R>
) {
  const previous = Option.map(target.previous, (content) => ({
    ...content,
    fingerprint: Option.flatMap(content.fingerprint, innerOf)
  }))
  const latest = yield* Ref.make(Option.none<SourceProgress>())
  const inner = yield* source.fetch({
    ...target,
    previous,
    progress: (step) => Effect.zipRight(Ref.set(latest, Option.some(step)), target.progress(step))
  })
  const progress = Option.getOrElse(yield* Ref.get(latest), () => ({
    document: source.id,
    documents: { done: 0, total: 0 },
    records: inner.records
  }))
  return yield* addMedia({
    target,
    inner,
    unchanged: Option.filter(previous, ({ fingerprint }) => Option.contains(fingerprint, inner.fingerprint)),
    progress
  })
})

const makeAddMedia = Effect.fnUntraced(function* (settings: MediaSettings) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const mediaFiles = yield* MediaFiles.make(settings, settings.maxTimeout ?? defaultTimeout)
  const makePictures = yield* PictureSizes.make(settings.images)
  const finding: Finding = {
    rules: Rules.fromOptions(settings),
    reader: settings.reader,
    url: settings.url,
    wantsPictures: settings.images !== undefined
  }
  /** Newer than what is on disk, where servers gave files of a version other tags since. */
  const known = yield* Ref.make(Option.none<KnownIndex>())

  const indexOf = Effect.fnUntraced(function* (previous: FetchTarget["previous"]) {
    if (Option.isNone(previous)) return {}
    const newer = Option.filter(yield* Ref.get(known), ({ fingerprint }) =>
      Option.contains(previous.value.fingerprint, fingerprint)
    )
    return Option.isSome(newer) ? newer.value.index : yield* MediaIndex.read(previous.value)
  })

  const jsonFiles = (directory: string) =>
    Effect.mapBoth(fileSystem.readDirectory(directory), {
      onSuccess: (names) => names.filter(isDocument),
      onFailure: (cause) => notSaved(directory, `it cannot be read: ${explain(cause)}`, cause)
    })

  /** Its documents; those that it did not save again are in the version before. */
  const documentsOf = Effect.fnUntraced(function* ({ inner, target: { directory }, unchanged }: Fetched) {
    const before = Option.match(unchanged, { onNone: () => [], onSome: ({ files }) => Object.keys(files) })
    const named =
      inner.documents ??
      Object.fromEntries(
        [...(yield* jsonFiles(directory)), ...before.filter(isDocument)].map((name) => [name, {}])
      )
    return yield* Effect.forEach(Object.entries(named).sort(byName), ([name, document]) => {
      const file = path.join(directory, name)
      return Effect.map(
        Effect.orElseSucceed(fileSystem.exists(file), () => false),
        (isThere): SourceDocument => ({
          ...document,
          name,
          file: Option.match(
            Option.filter(unchanged, () => !isThere),
            { onNone: () => file, onSome: (content) => path.join(content.directory, name) }
          )
        })
      )
    })
  })

  const linkFile = (name: string, from: string, directory: string) => {
    const file = path.join(directory, name)
    return fileSystem.makeDirectory(path.dirname(file), { recursive: true }).pipe(
      Effect.zipRight(linkOrCopy(from, file)),
      Effect.mapError((cause) => notSaved(name, `it cannot be reused: ${explain(cause)}`, cause))
    )
  }

  /** Takes over what the source has left out because nothing of it has changed. */
  const takeOverRest = Effect.fnUntraced(function* (
    { target: { directory }, unchanged }: Fetched,
    documents: ReadonlyArray<SearchedDocument>
  ) {
    if (Option.isNone(unchanged)) return {}
    const own = new Set(documents.map(({ name }) => name))
    const names = Object.keys(unchanged.value.files).filter(
      (name) => !own.has(name) && !isMediaPath(name) && !isImagePath(name) && name !== MediaIndex.indexPath
    )
    yield* Effect.forEach(
      names,
      (name) =>
        Effect.unlessEffect(
          linkFile(name, path.join(unchanged.value.directory, name), directory),
          Effect.orElseSucceed(fileSystem.exists(path.join(directory, name)), () => false)
        ),
      { concurrency: 8, discard: true }
    )
    return Object.fromEntries(names.map((name) => [name, unchanged.value.files[name]?.sha256 ?? ""] as const))
  })

  /** Writes where the files of a document are. */
  const writeDocument = (
    document: SearchedDocument,
    directory: string,
    media: ReadonlyMap<string, MediaFiles.MediaFile>,
    pictures: PictureSizes.Pictures
  ) => {
    const file = path.join(directory, document.name)
    if (!document.hasMedia && !(document.hasFiles && settings.images !== undefined)) {
      return Effect.as(
        document.file === file ? Effect.void : linkFile(document.name, document.file, directory),
        Option.none<FileDigest>()
      )
    }
    const placement: Placement = {
      place: (found) =>
        Option.map(Option.fromNullable(media.get(found.identity)), ({ entry }) => ({
          localPath: entry.path,
          ...Option.match(pictures.sizesOf(found), {
            onNone: () => ({}),
            onSome: (sizes) => ({ sizes })
          })
        })),
      sizesOf: pictures.sizesOfOwn,
      leftOut: () => {}
    }
    return Effect.asSome(
      rewrite(document, { file, temporary: path.join(directory, ".document") }, (part) =>
        changeAll(document, part, finding, () => placement)
      )
    )
  }

  const writeIndex = Effect.fnUntraced(function* (index: MediaIndex.MediaIndex, directory: string) {
    const text = `${savedText(sorted(index))}\n`
    yield* Effect.mapError(
      fileSystem.writeFileString(path.join(directory, MediaIndex.indexPath), text),
      (cause) => notSaved(MediaIndex.indexPath, `it cannot be written: ${explain(cause)}`, cause)
    )
    return sha256OfText(text)
  })

  return Effect.fn("Media.add")(function* (fetched: Fetched) {
    const { inner, progress, target } = fetched
    const { directory, previous } = target
    const found = yield* findMedia(yield* documentsOf(fetched), finding)
    const { documents, files, warnings } = found
    if (files.length > 0) {
      yield* Effect.mapError(
        fileSystem.makeDirectory(path.join(directory, mediaFolder), { recursive: true }),
        (cause) => notSaved(mediaFolder, `it cannot be made: ${explain(cause)}`, cause)
      )
    }
    const step = (document: string): SourceProgress => ({ ...progress, document })
    let latest = step(progress.document)
    const { bytes, errors, media, takeOver } = yield* mediaFiles
      .fetchAll(files, {
        directory,
        previous,
        index: yield* indexOf(previous),
        progress: ({ place }, attachments) => {
          latest = { ...step(place.document), attachments }
          return target.progress(latest)
        }
      })
      .pipe(
        Effect.provideService(WaitObserver, {
          waiting: ({ reason, until }) =>
            target.progress({ ...latest, waiting: { reason, until: new Date(until).toISOString() } })
        })
      )

    const fingerprint = `${inner.fingerprint}-${digestOf(settings, media)}`
    const index = Object.fromEntries(media.map(({ entry, key }) => [key, entry] as const).sort(byName))
    const isKnown = Option.filter(yield* Ref.get(known), (known) => known.fingerprint === fingerprint)
    const broken = Option.match(isKnown, { onNone: () => [], onSome: ({ broken }) => broken })
    yield* Ref.set(known, Option.some({ fingerprint, index, broken }))
    const counts = {
      fingerprint,
      attachments: {
        total: media.length + (inner.attachments?.total ?? 0),
        bytes: bytes + (inner.attachments?.bytes ?? 0),
        reused: media.filter(({ isKept }) => isKept).length + (inner.attachments?.reused ?? 0)
      }
    }
    const warned = [...(inner.warnings ?? []), ...warnings, ...errors.map(({ message }) => message)]
    if (Option.exists(previous, ({ fingerprint: before }) => Option.contains(before, fingerprint))) {
      return { ...inner, ...counts, ...warningsOf([...warned, ...broken]), bytes: inner.bytes + bytes }
    }

    const taken = new Map((yield* takeOver).map((file) => [file.wanted.identity, file]))
    const digests = { ...inner.digests, ...(yield* takeOverRest(fetched, documents)) }
    const pictures = yield* makePictures({ ...found, media: taken, digests }, target)
    yield* Ref.set(known, Option.some({ fingerprint, index, broken: pictures.warnings }))
    const written = Array.getSomes(
      yield* Effect.forEach(documents, (document) =>
        Effect.map(
          writeDocument(document, directory, taken, pictures),
          Option.map((file) => ({ ...file, name: document.name, more: file.bytes - document.bytes }))
        )
      )
    )
    const indexDigest =
      taken.size === 0 ? {} : { [MediaIndex.indexPath]: yield* writeIndex(index, directory) }
    return {
      ...inner,
      ...counts,
      ...warningsOf([...warned, ...pictures.warnings]),
      bytes:
        inner.bytes +
        bytes +
        written.reduce((sum, { more }) => sum + more, 0) +
        Object.values(pictures.files).reduce((sum, { size }) => sum + size, 0),
      digests: {
        ...digests,
        ...Object.fromEntries(written.map(({ name, sha256 }) => [name, sha256])),
        ...Object.fromEntries([...taken.values()].map(({ entry, sha256 }) => [entry.path, sha256])),
        ...Record.map(pictures.files, ({ sha256 }) => sha256),
        ...indexDigest
      }
    } satisfies FetchedSource
  })
})

/** What is known of the files of a version. */
interface KnownIndex {
  readonly fingerprint: string
  readonly index: MediaIndex.MediaIndex
  /** Why pictures of it have no sizes. */
  readonly broken: ReadonlyArray<string>
}

const defaultTimeout = 60_000

/** The fingerprint of the source itself in that of both. */
const innerOf = (fingerprint: string): Option.Option<string> =>
  Option.fromNullable(/^(.*)-[0-9a-f]{64}$/s.exec(fingerprint)?.[1])

/** Of what is added to documents: where files are, their content, and what decides where that is written. */
const digestOf = (
  { find, hosts, images, replace, types }: MediaSettings,
  media: ReadonlyArray<MediaFiles.MediaFile>
): string =>
  sha256OfText(
    JSON.stringify([
      [find, hosts, replace, types, images],
      media.map(({ entry, key, sha256 }) => [key, entry.path, sha256]).sort()
    ])
  )

const isDocument = (name: string): boolean => name.endsWith(".json") && !name.includes("/")

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1)

const notSaved = (document: string, detail: string, cause: Error) =>
  new DocumentNotSaved({ document, detail, cause })

/** More of them are counted only. */
const maxWarnings = 100

const warningsOf = (warnings: ReadonlyArray<string>): Pick<FetchedSource, "warnings"> => {
  const rest = warnings.length - maxWarnings
  const listed = warnings.slice(0, maxWarnings)
  return warnings.length === 0
    ? {}
    : { warnings: rest > 0 ? [...listed, `There are ${countText(rest, "more warning")}.`] : listed }
}
