/**
 * Downloads one file to the name that it has in a version, unless it is the one that the version before has.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import mime from "mime"
import { retryHeldOpen } from "../../../internal/heldOpen.ts"
import { explain } from "../../../internal/systemError.ts"
import type { SourceFile } from "../../../services/ContentSource.ts"
import * as Download from "../../httpClient/Download.ts"
import { defaultMaxBytes } from "../../httpClient/downloadCounter.ts"
import { contentLength, mayChangeUnseen } from "../../httpClient/headers.ts"
import { LocalAddressRefused, naming } from "../../httpClient/localAddress.ts"
import { formatOf, type PictureFormat } from "../images/pictureFormat.ts"
import type { FileNotSaved } from "./errors.ts"
import { dispositionName, fits, localPathOf, mediaFolder, nameOfUrl } from "./fileNames.ts"
import { isAtHost, typeOfUrl } from "./links.ts"
import type { IndexEntry, RememberedFile } from "./MediaIndex.ts"
import type { MediaOptions } from "./MediaOptions.ts"
import { typeOfResponse, wrongBeginning, wrongType } from "./mediaTypes.ts"
import { type AttachedFile, type FileProblem, notSaved, type WantedFile } from "./WantedFile.ts"

/** The server says that a file is the one that the version before has. */
export interface Unchanged {
  readonly _tag: "vitrine/MediaUnchanged"
  readonly entry: IndexEntry
}

export interface Target {
  /** A key made from its identity. */
  readonly key: string
  readonly wanted: WantedFile
  /** What the version before has of it. */
  readonly before: Option.Option<RememberedFile>
  /** The folder of the source. */
  readonly directory: string
  readonly onBytes: Download.OnBytes
}

/** A file that was downloaded. */
export interface SavedFile extends SourceFile {
  readonly entry: IndexEntry
  /** The format of a picture, if its first bytes show it. */
  readonly format: Option.Option<PictureFormat>
}

export interface Options extends Partial<Pick<MediaOptions, "headers" | "hosts" | "maxBytes" | "types">> {
  /** Where documents come from. */
  readonly url?: string
  /** Headers for its origin only. */
  readonly serverHeaders?: Readonly<Record<string, Redacted.Redacted>>
  /** The most bytes that an attached file may have, and the name of the option that says so. Default as other files. */
  readonly maxAttachment?: Download.Options["maxBytes"]
}

export const make = Effect.fnUntraced(function* (
  {
    headers = {},
    hosts = [],
    maxAttachment,
    maxBytes = defaultMaxBytes,
    serverHeaders = {},
    types,
    url: server
  }: Options,
  maxTimeout: number
) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const most = { value: maxBytes, option: "media.maxBytes" }
  const download = yield* Download.make({ maxBytes: most, maxTimeout })
  const downloadAttachment = yield* Download.make({ maxBytes: maxAttachment ?? most, maxTimeout })
  const credentials = Record.mapEntries(headers, (value, name) => [name.toLowerCase(), Redacted.value(value)])
  const serverCredentials = Record.map(serverHeaders, Redacted.value)
  const serverOrigin = server !== undefined && URL.canParse(server) ? new URL(server).origin : undefined

  /** What may be sent there. */
  const credentialsFor = (url: URL) => ({
    ...(url.origin === serverOrigin ? serverCredentials : {}),
    ...(isAtHost(url, hosts) ? credentials : {})
  })

  const downloadFile = Effect.fnUntraced(function* (
    url: URL,
    { before, directory, key, onBytes, wanted }: Target
  ) {
    const { name, size, version } = wanted
    const temporary = path.join(directory, mediaFolder, `.${key}`)
    const given = version === undefined ? {} : { version }
    let response: Option.Option<Download.Response> = Option.none()
    let format: Option.Option<PictureFormat> = Option.none()

    const { bytes, sha256 } = yield* download({
      url: url.href,
      headers: { ...credentialsFor(url), ...conditions(before) },
      file: temporary,
      name: `${key} of ${url.origin}`,
      size: Option.fromNullable(size),
      onBytes,
      onResponse: (begun): Effect.Effect<void, Unchanged | Download.DownloadFailed> => {
        response = Option.some(begun)
        return Option.match(
          Option.filter(before, (file) => isUnchanged(begun, file)),
          {
            onNone: () => wrong(url, wrongType(url, typeOfResponse(begun), types)),
            // With the tags that came with the file: under those of one that did not come, it would not change any more.
            onSome: ({ sha256: _, size: __, ...entry }) =>
              Effect.fail({ _tag: "vitrine/MediaUnchanged", entry: { ...entry, ...given } } as const)
          }
        )
      },
      onBeginning: (bytes) => {
        format = Option.fromNullable(formatOf(bytes))
        return wrong(
          url,
          wrongBeginning(typeOfUrl(url), Option.flatMap(response, typeOfResponse), types, bytes)
        )
      }
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
    yield* retryHeldOpen(fileSystem.rename(temporary, path.join(directory, localPath))).pipe(
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
    return { entry, sha256, size: bytes, format }
  })

  const makeFolderFor = (wanted: WantedFile, file: string): Effect.Effect<void, FileNotSaved> =>
    Effect.mapError(fileSystem.makeDirectory(path.dirname(file), { recursive: true }), (cause) =>
      notSaved(wanted, { detail: `cannot write ${file}: ${explain(cause)}`, cause })
    )

  /** By the newest link, and once more by a fresh one if that has expired. */
  const downloadAttached = Effect.fnUntraced(function* (
    { link, localPath }: AttachedFile,
    { directory, onBytes, wanted }: Target
  ) {
    const file = path.join(directory, localPath)
    yield* makeFolderFor(wanted, file)
    const problem = (problem: FileProblem) => notSaved(wanted, problem)
    const { hide = identity } = wanted
    let type: Option.Option<string> = Option.none()
    const size = Option.fromNullable(wanted.size)
    const get = (url: string) =>
      naming(server ?? url)(
        downloadAttachment({
          url,
          file,
          name: hide(localPath),
          size,
          onBytes,
          onResponse: (begun) =>
            Effect.sync(() => {
              type = typeOfResponse(begun)
            }),
          onBeginning: (bytes) =>
            wrong(
              new URL(url),
              // An empty attachment is correct: the table lists it as empty.
              bytes.length === 0
                ? Option.none()
                : wrongBeginning(Option.fromNullable(mime.getType(localPath)), type, undefined, bytes)
            )
        })
      )
    const newest = yield* Effect.mapError(link(Option.none()), problem)
    const { bytes, sha256 } = yield* Effect.catchAll(get(newest), (first) =>
      first.isExpired
        ? link(Option.some(newest)).pipe(
            Effect.mapError((why) => problem({ ...why, detail: `${first.detail}, and ${why.detail}` })),
            Effect.flatMap((fresh) =>
              Effect.mapError(get(fresh), (again) =>
                problem(
                  again.isExpired ? { ...again, detail: `${first.detail}, with a fresh link too` } : again
                )
              )
            )
          )
        : problem(first)
    )
    return { entry: { path: localPath }, sha256, size: bytes, format: Option.none() }
  })

  /** Downloads a linked file to a temporary name, and gives it its own; fails as `Unchanged` where it is the one before. */
  const downloadLinked = Effect.fnUntraced(function* (target: Target) {
    const { wanted } = target
    if (Option.isNone(wanted.url)) {
      const detail = "its link is relative, and where the document came from is not known"
      return yield* notSaved(wanted, { detail })
    }
    const url = new URL(wanted.url.value)
    return yield* downloadFile(url, target).pipe(
      naming(...(wanted.isAtServer || isAtHost(url, hosts) ? [url.href] : [])),
      Effect.catchTag("vitrine/DownloadFailed", (cause) =>
        notSaved(
          wanted,
          isRefused(cause.cause, url)
            ? { detail: `${cause.detail}. Where it may lead there, name ${url.host} in "media.hosts"`, cause }
            : cause
        )
      )
    )
  })

  return {
    makeFolderFor,
    download: (target: Target): Effect.Effect<SavedFile, FileNotSaved | Unchanged> =>
      target.wanted.attachment === undefined
        ? downloadLinked(target)
        : downloadAttached(target.wanted.attachment, target)
  }
})

const wrong = ({ origin }: URL, what: Option.Option<string>) =>
  Option.match(what, {
    onNone: () => Effect.void,
    onSome: (detail) =>
      new Download.DownloadFailed({ detail: `${origin}: ${detail}`, isTransient: false, isExpired: false })
  })

/** Whether it is the host of the link itself that would have to be named. */
const isRefused = (cause: unknown, { hostname }: URL): boolean =>
  cause instanceof LocalAddressRefused && !cause.isMetadata && cause.hostname === hostname

/** Whether the response is about the file that is there: not modified, or the same by what servers say that do not compare. */
const isUnchanged = (response: Download.Response, { etag, lastModified, size }: RememberedFile): boolean => {
  const { headers, status } = response
  return (
    status === 304 ||
    (etag !== undefined && headers.etag === etag) ||
    (lastModified !== undefined &&
      headers["last-modified"] === lastModified &&
      headers.etag === etag &&
      Option.contains(contentLength(response.headers), size))
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
  return mayChangeUnseen(response.headers)
    ? {}
    : {
        ...(etag === undefined ? {} : { etag }),
        ...(lastModified === undefined ? {} : { lastModified })
      }
}
