/**
 * The files of media: taken over from the version before, or downloaded.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import { linkOrCopy } from "../../internal/reuseFile.ts"
import { explain } from "../../internal/systemError.ts"
import type { AttachmentProgress, FetchTarget, SourceFile } from "../../services/ContentSource.ts"
import * as Body from "../httpClient/Body.ts"
import * as Download from "../httpClient/Download.ts"
import { filesAtOnce, makeDownloadCounter, saidOnce } from "../httpClient/downloadCounter.ts"
import { LocalAddressesAllowed, leadsToLocalAddress } from "../httpClient/localAddress.ts"
import { MediaNotSaved, type Place } from "./errors.ts"
import { dispositionName, fits, localPathOf, mediaFolder, nameOfUrl } from "./fileNames.ts"
import { isAtHost, keyOf } from "./links.ts"
import { type IndexEntry, type MediaIndex, type RememberedFile, remembered } from "./MediaIndex.ts"
import { defaultMaxBytes, type MediaOptions } from "./MediaOptions.ts"
import { typeOfResponse, wrongBeginning, wrongType } from "./mediaTypes.ts"
import { type DocumentPath, format } from "./PathPattern.ts"

/** A file that documents link to, however often. */
export interface WantedFile {
  /** `None` where its link is relative, and where its document came from is not known. */
  readonly url: Option.Option<string>
  /** As the document gives them. */
  readonly name: string | undefined
  readonly size: number | undefined
  readonly version: string | undefined
  /** What tells it from others. */
  readonly identity: string
  /** A place of a link that needs it, where there is one. */
  readonly place: LinkPlace
  /** Whether it may be missing everywhere. */
  readonly isOptional: boolean
  /** Whether a document with a link to it came from the same host, and that is a local address: then the file may as well. */
  readonly isFromLocal: boolean
}

/** Where a link is; `path` is in the record, or else in the document. */
export interface LinkPlace extends Place {
  readonly path: DocumentPath
}

/** A file that is to be in the version. */
export interface MediaFile extends SourceFile {
  readonly key: string
  readonly entry: IndexEntry
  /** Whether it is still only in the version before. */
  readonly isKept: boolean
  readonly wanted: WantedFile
}

export interface MediaTarget extends Pick<FetchTarget, "directory" | "previous"> {
  /** What is known of the files of `previous`. */
  readonly index: MediaIndex
  readonly progress: (latest: WantedFile, progress: AttachmentProgress) => Effect.Effect<void>
}

/** The server says that a file is the one that the version before has. */
class Unchanged extends Data.TaggedError("vitrine/MediaUnchanged")<{ readonly entry: IndexEntry }> {}

/** What became of a file: one of both, or both where that of the version before is kept. */
interface Outcome {
  readonly file: Option.Option<MediaFile>
  readonly error: Option.Option<MediaNotSaved>
}

export const make = Effect.fnUntraced(function* (
  {
    headers = {},
    hosts = [],
    maxBytes = defaultMaxBytes,
    types
  }: Partial<Pick<MediaOptions, "headers" | "hosts" | "maxBytes" | "types">>,
  maxTimeout: number
) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const download = yield* Download.make({
    maxBytes: { value: maxBytes, option: "media.maxBytes" },
    maxTimeout
  })
  const credentials = Record.mapEntries(headers, (value, name) => [name.toLowerCase(), Redacted.value(value)])

  /** Whether requests may go to local addresses: a host that is named is one itself, and not only redirects there. */
  const isLocalAllowed = ({ isFromLocal }: WantedFile, url: URL) =>
    isFromLocal || !isAtHost(url, hosts) ? Effect.succeed(isFromLocal) : leadsToLocalAddress(url.href)

  /** Downloads a file to a temporary name, and gives it its own; fails as `Unchanged` where it is the one before. */
  const downloadFile = Effect.fnUntraced(function* (
    wanted: WantedFile,
    url: URL,
    before: Option.Option<RememberedFile>,
    { directory }: Pick<MediaTarget, "directory">,
    onBytes: Download.OnBytes
  ) {
    const { identity, name, size, version } = wanted
    const key = keyOf(identity)
    const temporary = path.join(directory, mediaFolder, `.${key}`)
    const given = version === undefined ? {} : { version }
    let response: Option.Option<Download.Response> = Option.none()

    const wrong = (what: Option.Option<string>) =>
      Option.match(what, {
        onNone: () => Effect.void,
        onSome: (detail) =>
          new Download.DownloadFailed({
            detail: `${url.origin}: ${detail}`,
            isTransient: false,
            isExpired: false
          })
      })

    const { bytes, sha256 } = yield* download({
      url: url.href,
      headers: { ...(isAtHost(url, hosts) ? credentials : {}), ...conditions(before) },
      file: temporary,
      name: `${key} of ${url.origin}`,
      size: Option.fromNullable(size),
      resumes: "retries",
      onBytes,
      onResponse: (begun): Effect.Effect<void, Unchanged | Download.DownloadFailed> => {
        response = Option.some(begun)
        return Option.match(
          Option.filter(before, (file) => isUnchanged(begun, file)),
          {
            onNone: () => wrong(wrongType(url, typeOfResponse(begun), types)),
            onSome: ({ sha256: _, size: __, ...entry }) =>
              new Unchanged({ entry: { ...entry, ...tagsOf(begun), ...given } })
          }
        )
      },
      onBeginning: (bytes) => wrong(wrongBeginning(url, Option.flatMap(response, typeOfResponse), bytes))
    })
    const type = Option.flatMap(response, typeOfResponse)
    const kept = Option.filter(before, (before) => fits(before.path, type))
    const called = Option.getOrElse(
      Option.orElse(Option.fromNullable(name), () =>
        Option.flatMap(response, ({ headers }) => dispositionName(headers["content-disposition"]))
      ),
      () => nameOfUrl(url)
    )
    const localPath = Option.match(kept, {
      onNone: () => localPathOf({ key, name: called, type }),
      onSome: ({ path }) => path
    })
    yield* fileSystem
      .rename(temporary, path.join(directory, localPath))
      .pipe(
        Effect.mapError((cause) =>
          notSaved(wanted, { detail: `it cannot be written: ${explain(cause)}`, cause })
        )
      )
    const entry: IndexEntry = {
      path: localPath,
      ...Option.match(type, { onNone: () => ({}), onSome: (type) => ({ type }) }),
      ...Option.match(response, { onNone: () => ({}), onSome: tagsOf }),
      ...given
    }
    return { entry, sha256, size: bytes }
  })

  const fetchAll = Effect.fn("Media.fetch")(function* (
    files: ReadonlyArray<WantedFile>,
    target: MediaTarget
  ) {
    const { directory, index, previous, progress } = target
    const counter = yield* makeDownloadCounter<WantedFile>(files.length, { done: 0, bytes: 0 }, progress)
    yield* Effect.forEach(files.slice(0, 1), counter.report)

    const fetchFile = Effect.fnUntraced(function* (
      wanted: WantedFile,
      before: Option.Option<RememberedFile>
    ) {
      if (Option.isNone(wanted.url)) {
        const detail = "its link is relative, and where the document came from is not known"
        return yield* notSaved(wanted, { detail })
      }
      const url = new URL(wanted.url.value)
      return yield* downloadFile(wanted, url, before, target, counter.onBytes(wanted)).pipe(
        Effect.provideServiceEffect(LocalAddressesAllowed, isLocalAllowed(wanted, url)),
        Effect.catchTag("vitrine/DownloadFailed", (cause) => notSaved(wanted, cause))
      )
    })

    const keep = (
      wanted: WantedFile,
      { sha256, size, ...before }: RememberedFile,
      entry: IndexEntry = before
    ) =>
      Effect.as(counter.fileKept(wanted, size), {
        key: keyOf(wanted.identity),
        entry,
        sha256,
        size,
        isKept: true,
        wanted
      } satisfies MediaFile)

    const fetchOrKeep = (wanted: WantedFile): Effect.Effect<Outcome, MediaNotSaved> => {
      const before = Option.flatMap(previous, ({ files }) => remembered(index, files, keyOf(wanted.identity)))
      if (Option.isSome(before) && isProven(wanted, before.value)) {
        return Effect.map(keep(wanted, before.value), (file) => ({
          file: Option.some(file),
          error: Option.none()
        }))
      }
      return fetchFile(wanted, before).pipe(
        Effect.flatMap((fetched) =>
          Effect.as(counter.fileDone(wanted), {
            ...fetched,
            key: keyOf(wanted.identity),
            isKept: false,
            wanted
          })
        ),
        Effect.catchTag("vitrine/MediaUnchanged", ({ entry }) =>
          Option.match(before, {
            onNone: () => unexpected(wanted),
            onSome: (before) => keep(wanted, before, entry)
          })
        ),
        Effect.map((file): Outcome => ({ file: Option.some(file), error: Option.none() })),
        Effect.catchTag("vitrine/MediaNotSaved", (error) =>
          wanted.isOptional
            ? // What cannot be had for now need not vanish.
              Effect.transposeMapOption(
                Option.filter(before, () => error.isTransient),
                (before) => keep(wanted, before)
              ).pipe(Effect.map((file): Outcome => ({ file, error: Option.some(error) })))
            : Effect.fail(error)
        )
      )
    }

    const outcomes = yield* Effect.forEach(files, fetchOrKeep, { concurrency: filesAtOnce })
    const media = outcomes.flatMap(({ file }) => Option.toArray(file))

    /** Takes over what is only in the version before; what has vanished there is downloaded. */
    const takeOver = Effect.fnUntraced(function* (file: MediaFile) {
      const from = Option.map(previous, ({ directory }) => path.join(directory, file.entry.path))
      const taken = Effect.flatMap(from, (from) => linkOrCopy(from, path.join(directory, file.entry.path)))
      return yield* taken.pipe(
        Effect.as(file),
        Effect.catchAll(() =>
          fetchFile(file.wanted, Option.none()).pipe(
            Effect.map((fetched): MediaFile => ({ ...file, ...fetched, isKept: false })),
            Effect.catchTag("vitrine/MediaUnchanged", () => unexpected(file.wanted))
          )
        )
      )
    })

    return {
      media,
      /** Why files are missing, or are those of the version before, that may be so. */
      errors: outcomes.flatMap(({ error }) => Option.toArray(error)),
      bytes: media.reduce((sum, { size }) => sum + size, 0),
      /** Makes the files of the version before part of this one. */
      takeOver: Effect.forEach(media, (file) => (file.isKept ? takeOver(file) : Effect.succeed(file)), {
        concurrency: filesAtOnce
      })
    }
  }, saidOnce)

  return { fetchAll }
})

const notSaved = (
  { place }: WantedFile,
  {
    isTransient = false,
    ...more
  }: Partial<Pick<MediaNotSaved, "cause" | "isTransient">> & Pick<MediaNotSaved, "detail">
) =>
  new MediaNotSaved({
    document: place.document,
    record: place.record,
    field: format(place.path),
    isTransient,
    ...more
  })

const unexpected = (wanted: WantedFile) =>
  notSaved(wanted, { detail: "the server says that it has not changed, which was not asked" })

/** Whether nothing has to be asked: the document says so, or names a size and the server gave nothing to ask with. */
const isProven = (wanted: WantedFile, { etag, lastModified, size, version }: RememberedFile): boolean =>
  wanted.version !== undefined
    ? wanted.version === version
    : wanted.size === size && (etag ?? lastModified) === undefined

/** Whether the response is about the file that is there: not modified, or the same by what servers say that do not compare. */
const isUnchanged = (response: Download.Response, { etag, lastModified, size }: RememberedFile): boolean => {
  const { headers, status } = response
  return (
    status === 304 ||
    (etag !== undefined && headers.etag === etag) ||
    (lastModified !== undefined &&
      headers["last-modified"] === lastModified &&
      headers.etag === etag &&
      Option.contains(Body.contentLength(response), size))
  )
}

const conditions = Option.match({
  onNone: (): Readonly<Record<string, string>> => ({}),
  onSome: ({ etag, lastModified }: RememberedFile): Readonly<Record<string, string>> => ({
    ...(etag === undefined ? {} : { "if-none-match": etag }),
    ...(lastModified === undefined ? {} : { "if-modified-since": lastModified })
  })
})

/** What tells the file from one that comes later; nothing where it could change again under the same tags. */
const tagsOf = (response: Download.Response) => {
  const { etag, "last-modified": lastModified } = response.headers
  return Body.mayChangeUnseen(response)
    ? {}
    : {
        ...(etag === undefined ? {} : { etag }),
        ...(lastModified === undefined ? {} : { lastModified })
      }
}
