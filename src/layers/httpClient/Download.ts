/**
 * Downloads into files: a file is complete and of the right size, or does not exist.
 *
 * It owns retries and the limits. The caller decides what an expired link means.
 */

import { createHash, type Hash } from "node:crypto"
import { writev } from "node:fs"
import { promisify } from "node:util"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import type { HttpClient } from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { syncFile } from "../../files/durable.ts"
import { toError } from "../../files/fileBatch.ts"
import { hashFile } from "../../files/sha256.ts"
import { explain, retryHeldOpen } from "../../files/systemError.ts"
import * as Body from "./Body.ts"
import * as Get from "./Get.ts"
import { contentLength, type Headers, mayChangeUnseen } from "./headers.ts"
import { DownloadFailed, failed, retryable, withRetries, wrongSize } from "./httpFailure.ts"

export { DownloadFailed }

export interface Options {
  /** The most bytes of a file, and the name of the option for this limit. Default: the expected size. */
  readonly maxBytes?: { readonly value: number; readonly option: string }
  /**
   * Milliseconds for a response to begin, and for every pause in it. The whole response may take longer, because
   * files may be large.
   */
  readonly maxTimeout: number
}

export interface Target<E = never> {
  readonly url: string
  readonly headers?: Headers
  /** The file to write, in an existing folder. */
  readonly file: string
  /** The name of the file in messages. */
  readonly name: string
  /** In bytes, if it is known beforehand. */
  readonly size: Option.Option<number>
  /**
   * Whether an existing file is the beginning of the download, and the received part stays if the download fails.
   * Default: the file is new, and is removed if the download fails.
   */
  readonly resumes?: boolean
  /** Whether the caller knows that the file does not exist: then it is not searched for. Default false. */
  readonly isNew?: boolean
  /**
   * Whether the file is made durable before the download ends, except its name and the part from before, if more than
   * that part comes. Default false.
   */
  readonly isDurable?: boolean
  /** Called for each response with the whole file, before its body is read. A failure ends the download. */
  readonly onResponse?: (response: Response) => Effect.Effect<void, E>
  /**
   * Called with the first bytes of the file, as many as arrived at once, none if it is empty. A failure ends the
   * download.
   */
  readonly onBeginning?: (bytes: Uint8Array) => Effect.Effect<void, E>
  /** Called with the size of every written part, and with a negative number if the download starts again. */
  readonly onBytes: OnBytes
}

/** Called with the change of a file's size: positive for new bytes, negative if a try has failed. */
export type OnBytes = (bytes: number) => Effect.Effect<void>

/** A response without its body. */
export type Response = Pick<Body.Response, "headers" | "status">

export interface Downloaded {
  /** SHA-256 of the whole file, in hexadecimal digits. */
  readonly sha256: string
  /** Its size in bytes. */
  readonly bytes: number
}

/**
 * A file that may exist already, requested with conditions in the headers of the target (`if-none-match`,
 * `if-modified-since`).
 */
export interface ConditionalTarget<E = never> extends Target<E> {
  /** Whether a response means that the file has not changed; a 304 does. */
  readonly isUnchanged: (response: Response) => boolean
}

/** A transient failure is retried, three times at most. */
export interface Downloads {
  /** Downloads a file. */
  readonly download: <E = never>(target: Target<E>) => Effect.Effect<Downloaded, DownloadFailed | E>

  /** Downloads a file if it has changed; `undefined` if not. */
  readonly downloadChanged: <E = never>(
    target: ConditionalTarget<E>
  ) => Effect.Effect<Downloaded | undefined, DownloadFailed | E>
}

/** The received part of a file. */
interface Part {
  readonly bytes: number
  readonly hash: Hash
}

/** The identity of an interrupted download: it continues only with the same file. */
interface Begun {
  /** For `If-Range`. */
  readonly validator: string
  readonly headers: Headers
  /** Its size, if it is known. */
  readonly size: number | undefined
}

/** Appends the chunks. Joining them would copy the whole body. */
const writeChunks = (file: number, chunks: ReadonlyArray<Uint8Array>) =>
  Effect.tryPromise({
    try: async () => {
      for (let rest = chunks; rest.length > 0; ) {
        const { bytesWritten } = await write(file, rest)
        rest = isWhole(rest, bytesWritten) ? [] : [Buffer.concat(rest).subarray(bytesWritten)]
      }
    },
    catch: toError
  })

const write = promisify(writev)

const isWhole = (chunks: ReadonlyArray<Uint8Array>, bytes: number): boolean =>
  chunks.reduce((sum, { length }) => sum + length, 0) === bytes

const nothing = (): Part => ({ bytes: 0, hash: createHash("sha256") })

/** One download. One fiber uses it: a try continues where the last try ended. */
interface Download<E> {
  readonly target: Target<E> & Partial<ConditionalTarget<E>>
  readonly fileSystem: FileSystem.FileSystem
  readonly maxBytes: Options["maxBytes"]
  part: Part
  begun: Begun | undefined
  /** Whether the file has changed: a 304 would then leave its first part behind. */
  hasChanged: boolean
}

export const make = Effect.fnUntraced(function* ({
  maxBytes,
  maxTimeout
}: Options): Effect.fn.Return<Downloads, never, FileSystem.FileSystem | HttpClient> {
  const fileSystem = yield* FileSystem.FileSystem
  const get = yield* Get.make({ maxTimeout })
  const begin = <E>(target: Download<E>["target"]) =>
    Effect.suspend(() =>
      run({ target, fileSystem, maxBytes, part: nothing(), begun: undefined, hasChanged: false }, get)
    )
  return {
    download: (target) =>
      Effect.map(begin(target), (downloaded) => Option.getOrThrow(Option.fromNullable(downloaded))),
    downloadChanged: begin
  }
})

const run = <E>(
  download: Download<E>,
  get: Get.Get
): Effect.Effect<Downloaded | undefined, DownloadFailed | E> => {
  const { fileSystem, target } = download
  const { file, isNew = false, name, resumes = false } = target
  const readPart = () =>
    hashFile(file).pipe(
      Effect.provideService(FileSystem.FileSystem, fileSystem),
      Effect.catchIf(isNotFound, () => Effect.sync(nothing)),
      onDisk("read", file),
      Effect.flatMap((part) => setPart(download, part))
    )
  const remove = () =>
    Effect.zipRight(
      Effect.ignore(retryHeldOpen(fileSystem.remove(file, { force: true }))),
      setPart(download, nothing())
    )
  return (resumes && !isNew ? readPart() : Effect.void).pipe(
    Effect.zipRight(
      withRetries(
        Effect.tapError(attempt(download, get), () =>
          resumes || download.begun !== undefined ? Effect.void : setPart(download, nothing())
        ),
        { file: name }
      )
    ),
    Effect.tapError(() => (resumes ? Effect.void : remove()))
  )
}

const attempt = Effect.fnUntraced(function* <E>(download: Download<E>, get: Get.Get) {
  const { file, headers = {}, isDurable = false, isUnchanged, onResponse, url } = download.target
  const size = Option.getOrUndefined(download.target.size)
  yield* checkSize(download, size ?? 0)
  if (size !== undefined && size < download.part.bytes) yield* startAnew(download)
  const { begun, part } = download
  const { bytes, hash } = part
  const whole = size ?? begun?.size
  if (bytes > 0 && whole === bytes) {
    const sync = Effect.provideService(syncFile(file), FileSystem.FileSystem, download.fileSystem)
    if (isDurable) yield* onDisk("write", file)(sync)
    return { sha256: hash.digest("hex"), bytes }
  }
  const isFirst = bytes === 0 && !download.hasChanged
  return yield* get(
    url,
    isFirst ? headers : restHeaders(headers, bytes, begun),
    Effect.fnUntraced(function* (response) {
      const isCoded = Body.codingsOf(response.headers).length > 0
      yield* Body.accept(response, isFirst ? aboutConditions(headers) : aboutRanges)
      if (isFirst && isUnchanged?.(response) === true) return undefined
      if (
        response.status !== 200 &&
        (response.status !== 206 || isCoded || !isRest(response, bytes, whole, begun))
      ) {
        yield* startAnew(download)
        return yield* retryable(`${new URL(url).origin} does not give the rest of it`)
      }
      if (response.status !== 206) {
        if (onResponse !== undefined) yield* onResponse(response)
        download.hasChanged = true
        download.begun = isCoded ? undefined : whatBegins(response)
        yield* startAnew(download)
      }
      // The size after decoding is unknown.
      const length = isCoded ? undefined : contentLength(response.headers)
      const all = length === undefined ? undefined : download.part.bytes + length
      const expected = response.status === 206 ? (whole ?? totalOf(response.headers)) : size
      yield* checkSize(download, all ?? 0)
      return yield* save(download, response, length, expected ?? all)
    })
  )
})

/** Appends the body to the file. A small body is written at once. */
const save = Effect.fnUntraced(function* <E>(
  download: Download<E>,
  response: Body.Response,
  length: number | undefined,
  expected: number | undefined
) {
  const { file, isDurable = false, onBeginning } = download.target
  const read = yield* Body.reader(response)
  const atLeast = length !== undefined && length <= smallBody ? length + 1 : 1
  const { hash } = download.part
  const flag = download.part.bytes === 0 ? "w" : "a"
  let handle: FileSystem.File | undefined
  let isLast = false
  while (!isLast) {
    const next = yield* read(atLeast)
    isLast = next.isLast
    if (download.part.bytes === 0 && (next.length > 0 || isLast) && onBeginning !== undefined) {
      yield* onBeginning(Body.joined(next.chunks))
    }
    const bytes = download.part.bytes + next.length
    if (expected !== undefined && bytes > expected) {
      yield* startAnew(download)
      return yield* failed(wrongSize(response.url, `at least ${bytes}`, expected))
    }
    yield* checkSize(download, bytes, `at least ${bytes}`)
    handle ??= yield* onDisk("write", file)(download.fileSystem.open(file, { flag }))
    yield* onDisk("write", file)(writeChunks(handle.fd, next.chunks))
    if (isLast && isDurable) yield* onDisk("write", file)(handle.sync)
    for (const chunk of next.chunks) hash.update(chunk)
    yield* setPart(download, { bytes, hash })
  }
  const { bytes } = download.part
  return expected !== undefined && bytes < expected
    ? yield* retryable(wrongSize(response.url, bytes, expected))
    : { sha256: hash.digest("hex"), bytes }
}, Effect.scoped)

const checkSize = <E>(
  { maxBytes }: Download<E>,
  bytes: number,
  text = String(bytes)
): Effect.Effect<void, DownloadFailed> =>
  maxBytes !== undefined && bytes > maxBytes.value
    ? failed(`it has ${text} bytes, more than the ${maxBytes.value} of "${maxBytes.option}"`)
    : Effect.void

/** Replaces the received part, and reports the change of its size. */
const setPart = <E>(download: Download<E>, part: Part) =>
  Effect.suspend(() => {
    const more = part.bytes - download.part.bytes
    download.part = part
    return more === 0 ? Effect.void : download.target.onBytes(more)
  })

const startAnew = <E>(download: Download<E>) => {
  const { file } = download.target
  if (download.part.bytes === 0) return Effect.void
  return Effect.zipRight(
    onDisk("write", file)(download.fileSystem.truncate(file)),
    setPart(download, nothing())
  )
}

const onDisk =
  (action: "read" | "write", file: string) =>
  <A, R>(effect: Effect.Effect<A, Error, R>) =>
    Effect.mapError(effect, (cause) => failed(`cannot ${action} ${file}: ${explain(cause)}`, { cause }))

/** In bytes. Smaller bodies are written when they are complete, larger bodies while they arrive. */
const smallBody = 1024 * 1024

const isNotFound = (error: PlatformError): boolean =>
  error._tag === "SystemError" && error.reason === "NotFound"

/** The statuses of a request for the rest of a file. Some servers refuse ranges, or take `If-Range` for a condition. */
const aboutRanges: ReadonlySet<number> = new Set([206, 304, 400, 412, 416])

/** The statuses for an unchanged file, if the request has a condition. */
const aboutConditions = (headers: Headers): ReadonlySet<number> =>
  new Set("if-none-match" in headers || "if-modified-since" in headers ? [304] : [])

/** The validator of the file. A weak tag, or a date that is too fresh, is not enough for parts of the file. */
const whatBegins = ({ headers }: Response): Begun | undefined => {
  const { etag, "last-modified": lastModified } = headers
  const date = mayChangeUnseen(headers) ? undefined : lastModified
  const validator = etag?.startsWith('"') === true ? etag : date
  return validator === undefined ? undefined : { validator, headers, size: contentLength(headers) }
}

const restHeaders = (headers: Headers, offset: number, begun: Begun | undefined): Headers => {
  const { "if-modified-since": _, "if-none-match": __, ...others } = headers
  return offset === 0
    ? others
    : { ...others, range: `bytes=${offset}-`, ...(begun && { "if-range": begun.validator }) }
}

const rangeOf = (headers: Headers) =>
  /^bytes (?<start>\d+)-\d+\/(?<total>\d+|\*)$/.exec(headers["content-range"] ?? "")?.groups

/** The size of the whole file, if the response to a range request says it. */
const totalOf = (headers: Headers): number | undefined => {
  const total = Number(rangeOf(headers)?.total)
  return Number.isInteger(total) ? total : undefined
}

/**
 * Whether the response begins at the offset, and has the tag or the date that was asked for, no other tag or date, and
 * the size of the file: some servers ignore `If-Range`. The size counts from now on if it was unknown.
 */
const isRest = (
  { headers }: Response,
  offset: number,
  size: number | undefined,
  begun: Begun | undefined
): boolean => {
  const total = totalOf(headers) ?? size
  const { etag, "last-modified": date } = headers
  const isAsked = begun === undefined || [etag, date].includes(begun.validator)
  const isOther = ["etag", "last-modified"].some((name) => {
    const before = begun?.headers[name]
    return before !== undefined && headers[name] !== undefined && before !== headers[name]
  })
  return (
    Number(rangeOf(headers)?.start) === offset &&
    total !== undefined &&
    (size ?? total) === total &&
    isAsked &&
    !isOther
  )
}
