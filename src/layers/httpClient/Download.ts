/**
 * Downloads into files: whole and of the right size, or not there.
 *
 * It owns retries, the pace and the limits. What an expired link means is decided by the caller.
 */
import { createHash, type Hash } from "node:crypto"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { retryHeldOpen } from "../../internal/heldOpen.ts"
import { explain } from "../../internal/systemError.ts"
import * as Body from "./Body.ts"
import { DownloadFailed, failed, retryable, wrongSize } from "./DownloadFailed.ts"
import type { DownloadPace } from "./DownloadPace.ts"
import * as Get from "./Get.ts"
import { withRetries } from "./HttpFailure.ts"
import { contentLength, type Headers, mayChangeUnseen } from "./headers.ts"

export { DownloadFailed }

export interface Options {
  /** The most bytes that a file may have, and the name of the option that says so. Default: as many as are expected. */
  readonly maxBytes?: { readonly value: number; readonly option: string }
  /**
   * Milliseconds for a response to begin and for every pause in it, not for the whole of it: files may be large. How slow
   * they may be says `DownloadPace`.
   */
  readonly maxTimeout: number
}

export interface Target<E = never> {
  readonly url: string
  /** Conditions among them (`if-none-match`, `if-modified-since`) are for `onResponse`, which is told of the 304. */
  readonly headers?: Headers
  /** The file to write, in a folder that is there. Unless it `resumes`, it must not be there yet. */
  readonly file: string
  /** What the file is called in messages. */
  readonly name: string
  /** In bytes, where it is known beforehand. */
  readonly size: Option.Option<number>
  /**
   * Whether what there is of the file is its beginning, and what has come of it stays when the download fails. With "retries", the file
   * is new, and each further try of this download goes on where the server says that the file is still the same; nothing stays.
   */
  readonly resumes?: boolean | "retries"
  /** Told of each response with the whole file, or none (304), before its body is read. What it fails with ends the download. */
  readonly onResponse?: (response: Response) => Effect.Effect<void, E>
  /** Given the first bytes of the file, as many as came at once, none where it is empty. What it fails with ends the download. */
  readonly onBeginning?: (bytes: Uint8Array) => Effect.Effect<void, E>
  /** Called with the size of every part that is written, and with its negative if the download starts again. */
  readonly onBytes: OnBytes
}

/** Told how many bytes more there are of a file, or fewer where a try has failed. */
export type OnBytes = (bytes: number) => Effect.Effect<void>

/** What came before a body. */
export type Response = Pick<HttpClientResponse.HttpClientResponse, "headers" | "status">

export interface Downloaded {
  /** Of the whole file, in hexadecimal digits. */
  readonly sha256: string
  /** Its size. */
  readonly bytes: number
}

/** Downloads a file; a try that may succeed later is made again, three times at most. */
export type Download = <E = never>(target: Target<E>) => Effect.Effect<Downloaded, DownloadFailed | E>

/** What there is of a file. */
interface Part {
  readonly bytes: number
  readonly hash: Hash
}

/** What a download that has broken off must still be, to go on. */
interface Begun {
  /** As `If-Range` wants it. */
  readonly validator: string
  /** Its size, where that is known. */
  readonly size: Option.Option<number>
}

const nothing = (): Part => ({ bytes: 0, hash: createHash("sha256") })

export const make = Effect.fnUntraced(function* ({ maxBytes, maxTimeout }: Options) {
  const fileSystem = yield* FileSystem.FileSystem
  const get = yield* Get.make({ maxTimeout })

  const checkSize = (bytes: number, text = String(bytes)): Effect.Effect<void, DownloadFailed> =>
    maxBytes !== undefined && bytes > maxBytes.value
      ? failed(`it has ${text} bytes, more than the ${maxBytes.value} of "${maxBytes.option}"`)
      : Effect.void

  /** Writes the body of the response behind the part; the whole must have as many bytes as are expected. */
  const save = Effect.fnUntraced(function* <E>(
    response: HttpClientResponse.HttpClientResponse,
    pace: DownloadPace,
    { bytes: before, hash }: Part,
    expected: Option.Option<number>,
    file: {
      readonly begin: (part: Uint8Array) => Effect.Effect<void, E>
      /** Makes it, if nothing was written to it. */
      readonly create: Effect.Effect<unknown, DownloadFailed>
      readonly write: (part: Uint8Array) => Effect.Effect<void, DownloadFailed>
      readonly discard: Effect.Effect<unknown, DownloadFailed>
    }
  ) {
    const notAsExpected = (bytes: number | string) =>
      wrongSize(
        new URL(response.request.url),
        bytes,
        Option.getOrElse(expected, () => 0)
      )
    let bytes = before
    yield* Body.forEachPart(
      yield* Body.unpacked(response),
      pace,
      (part): Effect.Effect<void, DownloadFailed | E> => {
        const begin = bytes === 0 ? file.begin(part) : Effect.void
        bytes += part.length
        if (Option.exists(expected, (expected) => bytes > expected)) {
          return Effect.zipRight(file.discard, failed(notAsExpected(`at least ${bytes}`)))
        }
        hash.update(part)
        return begin.pipe(
          Effect.zipRight(checkSize(bytes, `at least ${bytes}`)),
          Effect.zipRight(file.write(part))
        )
      }
    )
    if (Option.exists(expected, (expected) => bytes < expected)) {
      return yield* Effect.fail(retryable(notAsExpected(bytes)))
    }
    if (bytes === 0) {
      yield* file.begin(new Uint8Array())
      yield* file.create
    }
    return { sha256: hash.digest("hex"), bytes }
  })

  const download = <E = never>({
    file,
    headers = {},
    name,
    onBeginning = () => Effect.void,
    onBytes,
    onResponse = () => Effect.void,
    resumes = false,
    size,
    url
  }: Target<E>): Effect.Effect<Downloaded, DownloadFailed | E> => {
    const onDisk =
      (action: "read" | "write") =>
      <A, R>(effect: Effect.Effect<A, PlatformError, R>) =>
        Effect.mapError(effect, (cause) => failed(`cannot ${action} ${file}: ${explain(cause)}`, { cause }))
    const writing = onDisk("write")
    let reported = 0
    const reportThat = (bytes: number) =>
      Effect.suspend(() => {
        const more = bytes - reported
        reported = bytes
        return more === 0 ? Effect.void : onBytes(more)
      })

    const readPart = Effect.gen(function* () {
      const { hash } = nothing()
      let bytes = 0
      yield* Stream.runForEach(fileSystem.stream(file, { chunkSize: readSize }), (read) =>
        Effect.sync(() => {
          hash.update(read)
          bytes += read.length
        })
      )
      return { bytes, hash }
    }).pipe(onDisk("read"))

    /** What an earlier try has begun. */
    let begun = Option.none<Begun>()
    let hasTried = false
    let isWritten = false
    const mayGoOn = (): boolean => resumes === true || Option.isSome(begun)
    const whole = () => Option.orElse(size, () => Option.flatMap(begun, ({ size }) => size))

    const attempt = Effect.gen(function* () {
      yield* checkSize(Option.getOrElse(size, () => 0))
      // By the first bytes: for what has not changed nothing is written.
      const open = yield* fileSystem.open(file, { flag: resumes === false ? "wx" : "a" }).pipe(
        writing,
        Effect.tap(() =>
          Effect.sync(() => {
            isWritten = true
          })
        ),
        Scope.extend(yield* Effect.scope),
        Effect.cached
      )
      const truncate = Effect.flatMap(open, (handle) => writing(handle.truncate()))
      const startAnew = Effect.as(Effect.zipRight(truncate, reportThat(0)), nothing())

      const isBegun =
        resumes !== false &&
        (resumes === true || hasTried) &&
        (yield* Effect.flatMap(open, (handle) => writing(handle.stat))).size > 0n
      hasTried = true
      const there = !isBegun ? nothing() : mayGoOn() ? yield* readPart : yield* startAnew
      const part = Option.exists(size, (size) => size < there.bytes) ? yield* startAnew : there
      yield* reportThat(part.bytes)
      if (part.bytes > 0 && Option.contains(whole(), part.bytes)) {
        return { sha256: part.hash.digest("hex"), bytes: part.bytes }
      }
      // Nothing that takes time may come between the response and the reading of its body: a body that breaks off
      // unread looks empty.
      return yield* get(
        url,
        part.bytes === 0 ? headers : restHeaders(headers, part.bytes, begun),
        Effect.fnUntraced(function* (response, pace) {
          const isCoded = Body.codingsOf(response.headers).length > 0
          yield* Body.accept(response, part.bytes === 0 ? aboutConditions(headers) : aboutRanges)
          if (
            response.status === 416 ||
            (response.status === 206 && (isCoded || !isRest(response, part.bytes, whole(), begun)))
          ) {
            yield* startAnew
            return yield* Effect.fail(retryable(`${new URL(url).origin} does not give the rest of it`))
          }
          if (response.status !== 206) {
            yield* onResponse(response)
            begun = resumes === "retries" && !isCoded ? whatBegins(response) : Option.none()
          }
          const before = response.status === 206 || part.bytes === 0 ? part : yield* startAnew
          // What it has when it is unpacked, nobody says.
          const length = isCoded
            ? Option.none()
            : Option.map(contentLength(response.headers), (bytes) => before.bytes + bytes)
          yield* checkSize(Option.getOrElse(length, () => 0))
          const expected = Option.orElse(size, () => length)
          const write = (bytes: Uint8Array) =>
            open.pipe(
              Effect.flatMap((handle) => writing(handle.writeAll(bytes))),
              Effect.zipRight(Effect.suspend(() => reportThat(reported + bytes.length)))
            )
          return yield* save(response, pace, before, expected, {
            begin: onBeginning,
            create: open,
            write,
            discard: startAnew
          })
        })
      )
    })

    const remove = Effect.suspend(() =>
      isWritten
        ? Effect.zipRight(
            Effect.ignore(retryHeldOpen(fileSystem.remove(file, { force: true }))),
            reportThat(0)
          )
        : Effect.void
    )

    return attempt.pipe(
      Effect.scoped,
      Effect.tapError(() => (resumes === false ? remove : Effect.void)),
      withRetries,
      Effect.tapError(() => (resumes === "retries" ? remove : Effect.void)),
      Effect.annotateLogs("file", name)
    )
  }

  return download satisfies Download
})

/** Bytes of a part that are read in one go. */
const readSize = 1024 * 1024

/** What says something about the rest of a file. */
const aboutRanges: ReadonlySet<number> = new Set([206, 416])

/** What says that the file is the one that is there, where that was asked. */
const aboutConditions = (headers: Headers): ReadonlySet<number> =>
  new Set("if-none-match" in headers || "if-modified-since" in headers ? [304] : [])

/** What the server tells the file from others by; a weak tag and a date that is too fresh are not enough for parts of it. */
const whatBegins = (response: HttpClientResponse.HttpClientResponse): Option.Option<Begun> => {
  const { etag, "last-modified": lastModified } = response.headers
  const date = mayChangeUnseen(response.headers) ? undefined : lastModified
  const validator = etag?.startsWith('"') === true ? etag : date
  return Option.map(Option.fromNullable(validator), (validator) => ({
    validator,
    size: contentLength(response.headers)
  }))
}

const restHeaders = (headers: Headers, offset: number, begun: Option.Option<Begun>): Headers => {
  const { "if-modified-since": _, "if-none-match": __, ...others } = headers
  return {
    ...others,
    range: `bytes=${offset}-`,
    ...Option.match(begun, { onNone: () => ({}), onSome: ({ validator }) => ({ "if-range": validator }) })
  }
}

/** Whether it begins at the offset, and is of a file of the right size and tag. */
const isRest = (
  { headers }: HttpClientResponse.HttpClientResponse,
  offset: number,
  size: Option.Option<number>,
  begun: Option.Option<Begun>
): boolean => {
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers["content-range"] ?? "") ?? []
  const { etag } = headers
  return (
    Number(start) === offset &&
    (total === "*" || Option.getOrElse(size, () => Number(total)) === Number(total)) &&
    (etag === undefined || !Option.exists(begun, ({ validator }) => isOtherTag(validator, etag)))
  )
}

const isOtherTag = (validator: string, etag: string): boolean =>
  validator.startsWith('"') && validator !== etag
