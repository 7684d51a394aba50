/**
 * The files of attachments: taken over from the version before, or downloaded.
 *
 * It owns what is a whole file and what is done about links that have expired. The token of the table API is
 * not known here: files come from other hosts.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as FileSystem from "@effect/platform/FileSystem"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Path from "@effect/platform/Path"
import * as Chunk from "effect/Chunk"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { sizeText } from "../../internal/readable.ts"
import { explain } from "../../internal/systemError.ts"
import type { AttachmentProgress, FetchedAttachments, FetchTarget } from "../../services/ContentSource.ts"
import { type Attachment, TableSourceClient } from "../../services/TableSourceClient.ts"
import { certificateAdvice, isCertificateProblem, isNotYetValid } from "../httpClient/certificateProblem.ts"
import * as DownloadPace from "../httpClient/DownloadPace.ts"
import {
  deepestMessage,
  oneLine,
  Retryable,
  retryAfter,
  withRetries,
  withTimeout
} from "../httpClient/HttpFailure.ts"
import {
  LocalAddressesAllowed,
  LocalAddressRefused,
  leadsToLocalAddress
} from "../httpClient/localAddress.ts"
import * as AttachmentCells from "./AttachmentCells.ts"
import { AttachmentNotSaved } from "./AttachmentNotSaved.ts"
import type { TableSourceOptions } from "./TableSourceOptions.ts"

/** An attachment, and where it was seen first. */
export interface FoundAttachment extends Attachment {
  readonly table: string
  readonly recordId: string
  readonly field: string
  /** Where to save it, relative to the source's folder, with forward slashes. */
  readonly localPath: string
}

export interface AttachmentTarget extends Pick<FetchTarget, "directory" | "previous"> {
  /** Told once before the first download, then after every one, and each second in a long one. */
  readonly progress: (latest: FoundAttachment, progress: AttachmentProgress) => Effect.Effect<void>
}

/** How many files are worked on at the same time. */
const concurrency = 6

const maxRedirects = 5

/** Milliseconds from one report of progress to the next while no file is done. */
const reportEvery = 1000

export interface AttachmentOptions extends Pick<TableSourceOptions, "maxAttachmentBytes" | "maxTimeout"> {
  /**
   * Where the API is. Unless that is a local address itself, nothing is downloaded from local addresses, whatever links
   * and redirects say. None, where it is not known, allows them.
   */
  readonly endpointUrl: Option.Option<string>
}

/**
 * Saves each file once: downloads are in the folder when `fetchAll` ends, and what the version before has is put there
 * by `complete`, which it gives. `maxTimeout` is for an answer to begin and for every pause in it, not for the whole
 * of it: files may be large. How slow they may be says `DownloadPace`.
 */
export const make = Effect.fnUntraced(function* ({
  endpointUrl,
  maxAttachmentBytes,
  maxTimeout
}: AttachmentOptions) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const tables = yield* TableSourceClient
  const cells = AttachmentCells.make(tables.attachments)
  const http = (yield* HttpClient.HttpClient).pipe(
    HttpClient.withTracerDisabledWhen(constTrue),
    HttpClient.transformResponse(Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" })),
    HttpClient.withScope
  )

  /** Finds the whole file of an attachment in the version before; fails with the attachment where it is not there. */
  const findIn = (previous: string, found: FoundAttachment) =>
    fileSystem.stat(path.join(previous, found.localPath)).pipe(
      Effect.map(({ size, type }) => ({ found, bytes: Number(size), isFile: type === "File" })),
      Effect.filterOrFail(
        ({ bytes, isFile }) => isFile && Option.getOrElse(found.size, () => bytes) === bytes
      ),
      Effect.mapError(() => found)
    )

  /** Links the file of the version before, or copies it. */
  const reuse = (previous: string, { localPath }: FoundAttachment, file: string) => {
    const old = path.join(previous, localPath)
    const copy = Effect.tapError(fileSystem.copyFile(old, file), () => remove(file))
    return Effect.catchAll(fileSystem.link(old, file), () => copy)
  }

  const remove = (file: string) => Effect.ignore(fileSystem.remove(file, { force: true }))

  /** The answer at the end of all redirects. */
  const request = (
    found: FoundAttachment,
    address: string,
    redirects = maxRedirects
  ): Effect.Effect<
    HttpClientResponse.HttpClientResponse,
    AttachmentNotSaved | Retryable<AttachmentNotSaved>,
    Scope.Scope
  > =>
    Effect.gen(function* () {
      const url = httpUrl(address)
      if (url === undefined) {
        return yield* notSaved(found, "its link is no http or https address")
      }
      const response = yield* http
        .execute(HttpClientRequest.get(url.href, { headers: { "accept-encoding": "identity" } }))
        .pipe(
          Effect.mapError(({ cause }) =>
            cause instanceof LocalAddressRefused
              ? notSaved(
                  found,
                  `its link leads to ${url.origin}, but ${cause.message}, and the API is not there`
                )
              : isCertificateProblem(cause)
                ? untrusted(found, url, cause)
                : broken(found, url, cause)
          ),
          withTimeout(maxTimeout, () => tooSlow(found, url, { reason: "Silence", millis: maxTimeout }))
        )
      const { location } = response.headers
      if (!isRedirect(response.status) || location === undefined) {
        return response
      }
      return redirects === 0
        ? yield* notSaved(found, `${url.origin} redirects more than ${maxRedirects} times`)
        : yield* request(
            found,
            URL.canParse(location, url.href) ? new URL(location, url).href : location,
            redirects - 1
          )
    })

  const broken = (found: FoundAttachment, { origin }: URL, cause: unknown) =>
    retryable(found, `the connection to ${origin} failed: ${oneLine(deepestMessage(cause))}`)

  const untrusted = (found: FoundAttachment, { origin }: URL, cause: unknown) =>
    notSaved(
      found,
      `the certificate of ${origin} is not accepted: ${oneLine(deepestMessage(cause))}. Check ${certificateAdvice}`,
      { isTransient: isNotYetValid(cause) }
    )

  const tooSlow = (found: FoundAttachment, { origin }: URL, slow: DownloadPace.TooSlow) =>
    retryable(
      found,
      slow.reason === "Silence"
        ? `nothing came from ${origin} for ${slow.millis} ms ("maxTimeout")`
        : `only ${sizeText(slow.bytes)} came from ${origin} in ${slow.millis / 1000} s; at least ${sizeText(DownloadPace.leastThroughput)} per second are needed`
    )

  const tooLarge = (found: FoundAttachment, bytes: string) =>
    notSaved(found, `it has ${bytes} bytes, more than the ${maxAttachmentBytes} of "maxAttachmentBytes"`)

  const checkSize = (found: FoundAttachment, announced: Option.Option<number>) =>
    Option.match(announced, {
      onNone: () => Effect.void,
      onSome: (bytes) => (bytes > maxAttachmentBytes ? tooLarge(found, String(bytes)) : Effect.void)
    })

  /**
   * Writes what is at the address into the file, which must not be there yet. `came` is told of every part that is
   * written, and that as much is gone again where it has to begin anew.
   */
  const download = (found: FoundAttachment, address: string, file: string, came: OnBytes) => {
    let written = 0
    const comes = (bytes: number) => {
      written += bytes
      return came(bytes)
    }
    return Effect.gen(function* () {
      yield* checkSize(found, found.size)
      const handle = yield* writing(found, fileSystem.open(file, { flag: "wx" }))
      // Nothing that takes time may come between the answer and the reading of its body: a body that breaks off
      // unread looks empty.
      const response = yield* request(found, address)
      const url = new URL(response.request.url)
      yield* accept(found, url, response)
      const length = contentLength(response)
      yield* checkSize(found, length)
      const expected = Option.orElse(found.size, () => length)
      const wrongSize = (bytes: string) =>
        `${url.origin} gave ${bytes} of ${Option.getOrElse(expected, () => 0)} bytes`
      const pace = yield* DownloadPace.make(maxTimeout)
      let bytes = 0
      const write = (part: Uint8Array) => {
        pace.came(part.length)
        return writing(found, handle.writeAll(part)).pipe(
          Effect.zipRight(Effect.sync(pace.waits)),
          Effect.zipRight(Effect.suspend(() => comes(part.length)))
        )
      }
      const save = response.stream.pipe(
        Stream.mapError(({ cause }) => broken(found, url, cause)),
        // All that has come since the last write: every write takes a turn of a thread.
        Stream.runForEachChunk((chunks) => {
          const part = Buffer.concat(Chunk.toReadonlyArray(chunks))
          bytes += part.length
          if (Option.exists(expected, (expected) => bytes > expected)) {
            return notSaved(found, wrongSize(`at least ${bytes}`))
          }
          if (bytes > maxAttachmentBytes) {
            return tooLarge(found, `at least ${bytes}`)
          }
          // A write of nothing is an error to the file system.
          return part.length === 0 ? Effect.void : write(part)
        })
      )
      yield* Effect.raceFirst(
        save,
        Effect.mapError(pace.watch, (slow) => tooSlow(found, url, slow))
      )
      if (Option.exists(expected, (expected) => bytes < expected)) {
        return yield* Effect.fail(retryable(found, wrongSize(String(bytes))))
      }
    }).pipe(
      Effect.scoped,
      Effect.tapError(() =>
        Effect.zipRight(
          remove(file),
          Effect.suspend(() => (written === 0 ? Effect.void : comes(-written)))
        )
      ),
      withRetries
    )
  }

  const accept = Effect.fnUntraced(function* (
    found: FoundAttachment,
    { origin }: URL,
    response: HttpClientResponse.HttpClientResponse
  ) {
    const { headers, status } = response
    if (status !== 200) {
      const refusal = `${origin} responds with HTTP ${status}`
      if (isExpired(status)) {
        return yield* new LinkExpired({ error: notSaved(found, refusal) })
      }
      return yield* status >= 500 || status === 429
        ? Effect.fail(retryable(found, refusal, yield* retryAfter(response)))
        : notSaved(found, refusal)
    }
    if ((headers["content-encoding"] ?? "identity") !== "identity") {
      return yield* notSaved(found, `${origin} gives it compressed, though it was not asked to`)
    }
  })

  const readAgain = Effect.fnUntraced(function* (
    found: FoundAttachment,
    expired: AttachmentNotSaved,
    links: FreshLinks
  ) {
    const { id, recordId, table } = found
    const { fields } = yield* Effect.mapError(tables.readRecord({ table, recordId }), (cause) =>
      notSaved(found, `${expired.detail}, and the record cannot be read again: ${cause.detail}`, {
        cause,
        isTransient: cause.isTransient
      })
    )
    const attachments = cells.allIn(fields)
    for (const { id, url } of attachments) {
      links.set(id, url)
    }
    if (!attachments.some((attachment) => attachment.id === id)) {
      return yield* notSaved(found, `${expired.detail}, and the record no longer has it`)
    }
  })

  const downloadWithFreshLink = (found: FoundAttachment, file: string, links: FreshLinks, came: OnBytes) =>
    Effect.suspend(() => {
      const linkNow = () => links.get(found.id) ?? found.url
      const link = linkNow()
      return Effect.catchTag(download(found, link, file, came), "LinkExpired", ({ error }) =>
        // Another download from the same record may have brought a fresh link meanwhile.
        Effect.when(readAgain(found, error, links), () => linkNow() === link).pipe(
          Effect.zipRight(Effect.suspend(() => download(found, linkNow(), file, came))),
          Effect.catchTag("LinkExpired", () =>
            Effect.fail(notSaved(found, `${error.detail}, with a fresh link too`))
          )
        )
      )
    })

  const fetchAll = Effect.fn("AttachmentFiles.fetch")(function* (
    found: ReadonlyArray<FoundAttachment>,
    { directory, previous, progress }: AttachmentTarget
  ) {
    const links: FreshLinks = new Map()
    const files = distinct(found)
    const [missing, kept] = yield* Option.match(previous, {
      onNone: () => Effect.succeed([files, []] as const),
      onSome: (previous) => Effect.partition(files, (found) => findIn(previous, found), { concurrency })
    })
    const isLocalAllowed = yield* Option.match(endpointUrl, {
      onNone: () => Effect.succeed(true),
      onSome: leadsToLocalAddress
    })
    const fetchFile = (found: FoundAttachment, file: string, came: OnBytes) =>
      Effect.provideService(
        downloadWithFreshLink(found, file, links, came),
        LocalAddressesAllowed,
        isLocalAllowed
      )
    const clock = yield* Effect.clock
    let done = kept.length
    let bytes = kept.reduce((sum, { bytes }) => sum + bytes, 0)
    let toldAt = 0
    const report = (latest: FoundAttachment) =>
      Effect.suspend(() => {
        toldAt = clock.unsafeCurrentTimeMillis()
        return progress(latest, { done, total: files.length, bytes })
      })
    const came =
      (found: FoundAttachment): OnBytes =>
      (size) => {
        bytes += size
        return clock.unsafeCurrentTimeMillis() - toldAt < reportEvery ? Effect.void : report(found)
      }
    const makeFolderFor = Effect.fnUntraced(function* (found: FoundAttachment) {
      const file = path.join(directory, found.localPath)
      const folder = path.dirname(file)
      yield* writing(found, fileSystem.makeDirectory(folder, { recursive: true }))
      return file
    })

    const [first] = files
    if (first !== undefined) {
      yield* report(first)
    }
    yield* Effect.forEach(
      missing,
      Effect.fnUntraced(function* (found) {
        yield* fetchFile(found, yield* makeFolderFor(found), came(found))
        done++
        yield* report(found)
      }),
      { concurrency, discard: true }
    )
    const takeOver = Effect.fnUntraced(function* (previous: string, { found }: (typeof kept)[number]) {
      const file = yield* makeFolderFor(found)
      yield* Effect.catchAll(reuse(previous, found, file), () => fetchFile(found, file, () => Effect.void))
    })
    const complete = Option.match(previous, {
      onNone: () => Effect.void,
      onSome: (previous) =>
        Effect.forEach(kept, (found) => takeOver(previous, found), { concurrency, discard: true })
    })
    const attachments: FetchedAttachments = { total: files.length, bytes, reused: kept.length }
    return { attachments, complete: saidOnce(complete) }
  }, saidOnce)

  return { fetchAll }
})

/** What ends one download is told by the error of the whole: no log of its own, in which a link could be. */
const saidOnce = Effect.withUnhandledErrorLogLevel(Option.none())

/** Told how many bytes more there are of a file, or fewer where a try has failed. */
type OnBytes = (bytes: number) => Effect.Effect<void>

/** The links of records that were read again, by the id of the attachment. */
type FreshLinks = Map<string, string>

/** The link was good for a limited time. */
class LinkExpired extends Data.TaggedError("LinkExpired")<{ readonly error: AttachmentNotSaved }> {}

const isExpired = (status: number): boolean => status === 403 || status === 404 || status === 410

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status)

const notSaved = (
  { field, filename, recordId, table }: FoundAttachment,
  detail: string,
  { isTransient = false, cause }: { readonly isTransient?: boolean; readonly cause?: Error } = {}
): AttachmentNotSaved =>
  new AttachmentNotSaved({ table, recordId, field, filename, detail, isTransient, cause })

/** What is tried again at once, and may heal later if that does not help. */
const retryable = (found: FoundAttachment, detail: string, asked?: Duration.Duration) =>
  new Retryable(notSaved(found, detail, { isTransient: true }), asked)

const writing = <A, R>(found: FoundAttachment, write: Effect.Effect<A, PlatformError, R>) =>
  Effect.mapError(write, (cause) =>
    notSaved(found, `cannot write ${found.localPath}: ${explain(cause)}`, { cause })
  )

/** Without its fragment, which is not for servers. */
const httpUrl = (address: string): URL | undefined => {
  if (!URL.canParse(address)) return undefined
  const url = new URL(address)
  url.hash = ""
  return /^https?:$/.test(url.protocol) ? url : undefined
}

const contentLength = ({ headers }: HttpClientResponse.HttpClientResponse): Option.Option<number> => {
  const length = headers["content-length"] ?? ""
  return /^\d+$/.test(length) ? Option.some(Number(length)) : Option.none()
}

/** The first of those that are saved to the same file. */
const distinct = (all: ReadonlyArray<FoundAttachment>): ReadonlyArray<FoundAttachment> => {
  const files = new Map<string, FoundAttachment>()
  for (const found of all) {
    if (!files.has(found.localPath)) files.set(found.localPath, found)
  }
  return [...files.values()]
}
