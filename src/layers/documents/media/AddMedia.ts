/**
 * Adding the files that documents link to, and smaller pictures, to what a source has fetched.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import type * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import { excerpt } from "../../../internal/printable.ts"
import { countText } from "../../../internal/readable.ts"
import { sha256OfText } from "../../../internal/sha256.ts"
import { explain } from "../../../internal/systemError.ts"
import type { FetchedSource, FetchTarget, SourceProgress } from "../../../services/ContentSource.ts"
import { WaitObserver } from "../../../services/WaitObserver.ts"
import type { ImageConfig } from "../images/ImageConfig.ts"
import { warningsOf as errorWarnings } from "./errors.ts"
import { mediaFolder } from "./fileNames.ts"
import { type Finding, type FoundMedia, findMedia } from "./findMedia.ts"
import * as MediaFiles from "./MediaFiles.ts"
import * as MediaIndex from "./MediaIndex.ts"
import type { MediaOptions } from "./MediaOptions.ts"
import * as MediaPlaces from "./MediaPlaces.ts"
import * as PictureSizes from "./PictureSizes.ts"
import type { MediaReader } from "./placeMedia.ts"
import * as Rules from "./Rules.ts"
import * as SourceFolder from "./SourceFolder.ts"

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
  /** Sent to the origin of `url`, and to nobody else: names in small letters. Default none. */
  readonly serverHeaders?: Readonly<Record<string, Redacted.Redacted>>
}

/** What is known of a version, where it is newer than what is on disk: servers gave its files other tags since. */
interface Known {
  readonly fingerprint: string
  readonly index: MediaIndex.MediaIndex
  /** Why pictures of it have no sizes. */
  readonly broken: ReadonlyArray<string>
}

export const make = Effect.fnUntraced(function* (settings: MediaSettings) {
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
  const folder = yield* SourceFolder.make
  const places = yield* MediaPlaces.make(finding, folder)
  const known = yield* Ref.make(Option.none<Known>())
  const say = yield* makeSay

  const knownOf = (fingerprint: Option.Option<string>) =>
    Effect.map(
      Ref.get(known),
      Option.filter((known) => Option.contains(fingerprint, known.fingerprint))
    )

  const indexOf = Effect.fnUntraced(function* (previous: FetchTarget["previous"]) {
    if (Option.isNone(previous)) return {}
    const newer = yield* knownOf(previous.value.fingerprint)
    return Option.isSome(newer) ? newer.value.index : yield* MediaIndex.read(previous.value)
  })

  return Effect.fn("Media.add")(function* (fetched: SourceFolder.Fetched) {
    const { inner, progress, target } = fetched
    const { directory, previous } = target
    const found = yield* findMedia(yield* folder.documentsOf(fetched), finding)
    const { documents, files, warnings } = found
    if (files.length > 0) {
      yield* Effect.mapError(
        fileSystem.makeDirectory(path.join(directory, mediaFolder), { recursive: true }),
        (cause) => SourceFolder.notSaved(mediaFolder, `it cannot be made: ${explain(cause)}`, cause)
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
    const index = Object.fromEntries(media.map(({ entry, key }) => [key, entry] as const))
    const broken = Option.match(yield* knownOf(Option.some(fingerprint)), {
      onNone: () => [],
      onSome: ({ broken }) => broken
    })
    yield* Ref.set(known, Option.some({ fingerprint, index, broken }))
    const counts = {
      fingerprint,
      attachments: {
        total: media.length + (inner.attachments?.total ?? 0),
        bytes: bytes + (inner.attachments?.bytes ?? 0),
        reused: media.filter(({ isKept }) => isKept).length + (inner.attachments?.reused ?? 0)
      }
    }
    const warned = [...warnings, ...errorWarnings(errors), ...nothingFound(settings, found, inner)]
    const given = (pictures: ReadonlyArray<string>) =>
      Effect.as(
        say([...warned, ...pictures]),
        warningsOf([...(inner.warnings ?? []), ...warned, ...pictures])
      )
    if (Option.exists(previous, ({ fingerprint: before }) => Option.contains(before, fingerprint))) {
      return { ...inner, ...counts, ...(yield* given(broken)), bytes: inner.bytes + bytes }
    }

    const taken = new Map((yield* takeOver).map((file) => [file.wanted.identity, file]))
    const digests = { ...inner.digests, ...(yield* folder.takeOverRest(fetched, documents)) }
    const pictures = yield* makePictures({ ...found, media: taken, digests }, target)
    yield* Ref.set(known, Option.some({ fingerprint, index, broken: pictures.warnings }))
    const written = Array.getSomes(
      yield* Effect.forEach(documents, (document) =>
        Effect.map(
          places.writeDocument(document, directory, taken, pictures),
          Option.map((file) => ({ ...file, name: document.name, more: file.bytes - document.bytes }))
        )
      )
    )
    const indexDigest =
      taken.size === 0 ? {} : { [MediaIndex.indexPath]: yield* places.writeIndex(index, directory) }
    return {
      ...inner,
      ...counts,
      ...(yield* given(pictures.warnings)),
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

const defaultTimeout = 60_000

/** What is wrong where there are records, but no link at all that `find` is about. */
const nothingFound = (
  { find }: MediaSettings,
  { files }: FoundMedia,
  { records }: FetchedSource
): ReadonlyArray<string> =>
  find === undefined || files.length > 0 || records === 0
    ? []
    : [
        `"media.find" finds no link in any document (${excerpt(find.join(", "))}); "vitrine check" with the id of the source lists where links are`
      ]

/** Says warnings in one line of the log, unless the fetch before has said the same. */
const makeSay = Effect.map(Ref.make(""), (said) => (warnings: ReadonlyArray<string>) => {
  const [first = ""] = warnings
  const text = warnings.length > 1 ? `${countText(warnings.length, "warning")}. The first: ${first}` : first
  return Effect.flatMap(Ref.getAndSet(said, text), (before) =>
    Effect.when(Effect.logWarning(text), () => text !== "" && text !== before)
  )
})

/** The fingerprint of the source itself in that of both. */
export const innerOf = (fingerprint: string): Option.Option<string> =>
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

/** More of them are counted only. */
const maxWarnings = 100

const warningsOf = (warnings: ReadonlyArray<string>): Pick<FetchedSource, "warnings"> => {
  const rest = warnings.length - maxWarnings
  const listed = warnings.slice(0, maxWarnings)
  return warnings.length === 0
    ? {}
    : { warnings: rest > 0 ? [...listed, `There are ${countText(rest, "more warning")}.`] : listed }
}
