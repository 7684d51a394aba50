/**
 * Downloads into files: whole and of the right size, or not there.
 *
 * It owns redirects, retries, the pace and the limits. What an expired link means belongs to whoever asks.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as FileSystem from "@effect/platform/FileSystem"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Chunk from "effect/Chunk"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { sizeText } from "../../internal/readable.ts"
import { OptionalErrorChain } from "../../internal/SerializedError.ts"
import { explain } from "../../internal/systemError.ts"
import { certificateAdvice, isCertificateProblem, isNotYetValid } from "./certificateProblem.ts"
import * as DownloadPace from "./DownloadPace.ts"
import { deepestMessage, oneLine, Retryable, retryAfter, withRetries, withTimeout } from "./HttpFailure.ts"
import { LocalAddressRefused } from "./localAddress.ts"

/** A file that could not be downloaded. */
export class DownloadFailed extends Schema.TaggedError<DownloadFailed>()("vitrine/DownloadFailed", {
  /** What happened. Links may be signed: no more of one than its origin is in it. */
  detail: Schema.String,
  /** Whether another try may succeed later without anybody doing something. */
  isTransient: Schema.Boolean,
  /** Whether a fresh link may help: the status is 403, 404 or 410. */
  isExpired: Schema.Boolean,
  cause: OptionalErrorChain
}) {
  override get message() {
    return `The download failed: ${this.detail}`
  }
}

export interface Options {
  /** The most bytes that a file may have, and the name of the option that says so. */
  readonly maxBytes: { readonly value: number; readonly option: string }
  /**
   * Milliseconds for a response to begin and for every pause in it, not for the whole of it: files may be large. How slow
   * they may be says `DownloadPace`.
   */
  readonly maxTimeout: number
}

export interface Target {
  readonly url: string
  /** The file to write, which must not be there yet, in a folder that is. */
  readonly file: string
  /** What the file is called in messages. */
  readonly name: string
  /** In bytes, where it is known beforehand. */
  readonly size: Option.Option<number>
  /** Told of every part that is written, and that as much is gone again where it has to begin anew. */
  readonly onBytes: OnBytes
}

/** Told how many bytes more there are of a file, or fewer where a try has failed. */
export type OnBytes = (bytes: number) => Effect.Effect<void>

/** Downloads a file; a try that may succeed later is made again, three times at most. */
export type Download = (target: Target) => Effect.Effect<void, DownloadFailed>

const maxRedirects = 5

export const make = Effect.fnUntraced(function* ({ maxBytes, maxTimeout }: Options) {
  const fileSystem = yield* FileSystem.FileSystem
  const http = (yield* HttpClient.HttpClient).pipe(
    HttpClient.withTracerDisabledWhen(constTrue),
    HttpClient.transformResponse(Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" })),
    HttpClient.withScope
  )

  const tooSlow = ({ origin }: URL, slow: DownloadPace.TooSlow) =>
    retryable(
      slow.reason === "Silence"
        ? `nothing came from ${origin} for ${slow.millis} ms ("maxTimeout")`
        : `only ${sizeText(slow.bytes)} came from ${origin} in ${slow.millis / 1000} s; at least ${sizeText(DownloadPace.leastThroughput)} per second are needed`
    )

  /** The response at the end of all redirects. */
  const request = (
    address: string,
    redirects = maxRedirects
  ): Effect.Effect<HttpClientResponse.HttpClientResponse, Failure, Scope.Scope> =>
    Effect.gen(function* () {
      const url = httpUrl(address)
      if (url === undefined) {
        return yield* failed("its link is no http or https address")
      }
      const response = yield* http
        .execute(HttpClientRequest.get(url.href, { headers: { "accept-encoding": "identity" } }))
        .pipe(
          Effect.mapError(({ cause }) => connectionFailed(url, cause)),
          withTimeout(maxTimeout, () => tooSlow(url, { reason: "Silence", millis: maxTimeout }))
        )
      const { location } = response.headers
      if (!isRedirect(response.status) || location === undefined) {
        return response
      }
      return redirects === 0
        ? yield* failed(`${url.origin} redirects more than ${maxRedirects} times`)
        : yield* request(
            URL.canParse(location, url.href) ? new URL(location, url).href : location,
            redirects - 1
          )
    })

  const tooLarge = (bytes: string) =>
    failed(`it has ${bytes} bytes, more than the ${maxBytes.value} of "${maxBytes.option}"`)

  const checkSize = (announced: Option.Option<number>) =>
    Option.match(announced, {
      onNone: () => Effect.void,
      onSome: (bytes) => (bytes > maxBytes.value ? tooLarge(String(bytes)) : Effect.void)
    })

  /** Writes the body of the response, which must have as many bytes as are expected. */
  const save = Effect.fnUntraced(function* (
    response: HttpClientResponse.HttpClientResponse,
    expected: Option.Option<number>,
    write: (part: Uint8Array) => Effect.Effect<void, DownloadFailed>
  ) {
    const url = new URL(response.request.url)
    const wrongSize = (bytes: string) =>
      `${url.origin} gave ${bytes} of ${Option.getOrElse(expected, () => 0)} bytes`
    const pace = yield* DownloadPace.make(maxTimeout)
    let bytes = 0
    const saving = response.stream.pipe(
      Stream.mapError(({ cause }) => broken(url, cause)),
      // All that has come since the last write: every write takes a turn of a thread.
      Stream.runForEachChunk((chunks) => {
        const part = Buffer.concat(Chunk.toReadonlyArray(chunks))
        bytes += part.length
        if (Option.exists(expected, (expected) => bytes > expected)) {
          return failed(wrongSize(`at least ${bytes}`))
        }
        if (bytes > maxBytes.value) {
          return tooLarge(`at least ${bytes}`)
        }
        // A write of nothing is an error to the file system.
        if (part.length === 0) {
          return Effect.void
        }
        pace.came(part.length)
        return Effect.tap(write(part), () => Effect.sync(pace.waits))
      })
    )
    yield* Effect.raceFirst(
      saving,
      Effect.mapError(pace.watch, (slow) => tooSlow(url, slow))
    )
    if (Option.exists(expected, (expected) => bytes < expected)) {
      return yield* Effect.fail(retryable(wrongSize(String(bytes))))
    }
  })

  const download: Download = ({ file, name, onBytes, size, url }) => {
    const writing = <A, R>(write: Effect.Effect<A, PlatformError, R>) =>
      Effect.mapError(write, (cause) => failed(`cannot write ${name}: ${explain(cause)}`, { cause }))
    let written = 0
    const report = (bytes: number) => {
      written += bytes
      return onBytes(bytes)
    }
    const attempt = Effect.gen(function* () {
      yield* checkSize(size)
      const handle = yield* writing(fileSystem.open(file, { flag: "wx" }))
      // Nothing that takes time may come between the response and the reading of its body: a body that breaks off
      // unread looks empty.
      const response = yield* request(url)
      yield* accept(response)
      const length = contentLength(response)
      yield* checkSize(length)
      yield* save(
        response,
        Option.orElse(size, () => length),
        (part) =>
          Effect.zipRight(
            writing(handle.writeAll(part)),
            Effect.suspend(() => report(part.length))
          )
      )
    })
    return attempt.pipe(
      Effect.scoped,
      Effect.tapError(() =>
        Effect.zipRight(
          Effect.ignore(fileSystem.remove(file, { force: true })),
          Effect.suspend(() => (written === 0 ? Effect.void : report(-written)))
        )
      ),
      withRetries,
      Effect.annotateLogs("file", name)
    )
  }

  return download
})

type Failure = DownloadFailed | Retryable<DownloadFailed>

const accept = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
  const { headers, status } = response
  const { origin } = new URL(response.request.url)
  if (status !== 200) {
    const refusal = `${origin} responds with HTTP ${status}`
    return yield* status >= 500 || status === 429
      ? Effect.fail(retryable(refusal, yield* retryAfter(response)))
      : failed(refusal, { isExpired: expiredStatuses.has(status) })
  }
  if ((headers["content-encoding"] ?? "identity") !== "identity") {
    return yield* failed(`${origin} gives it compressed, though it was not asked to`)
  }
})

const expiredStatuses: ReadonlySet<number> = new Set([403, 404, 410])

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status)

const connectionFailed = (url: URL, cause: unknown): Failure => {
  const { origin } = url
  if (cause instanceof LocalAddressRefused) {
    return failed(`its link leads to ${origin}, but ${cause.message}, and the API is not there`)
  }
  return isCertificateProblem(cause)
    ? failed(
        `the certificate of ${origin} is not accepted: ${oneLine(deepestMessage(cause))}. Check ${certificateAdvice}`,
        { isTransient: isNotYetValid(cause) }
      )
    : broken(url, cause)
}

const broken = ({ origin }: URL, cause: unknown) =>
  retryable(`the connection to ${origin} failed: ${oneLine(deepestMessage(cause))}`)

const failed = (
  detail: string,
  more: { readonly isTransient?: boolean; readonly isExpired?: boolean; readonly cause?: Error } = {}
): DownloadFailed => new DownloadFailed({ detail, isTransient: false, isExpired: false, ...more })

/** What is tried again at once, and may heal later if that does not help. */
const retryable = (detail: string, asked?: Duration.Duration) =>
  new Retryable(failed(detail, { isTransient: true }), asked)

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
