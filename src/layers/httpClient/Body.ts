/**
 * The bodies of responses: which responses are accepted, and reading their bodies.
 */
import { PassThrough, pipeline, Readable, type Transform } from "node:stream"
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { sizeText } from "../../internal/readable.ts"
import { errorCode } from "../../internal/serializeError.ts"
import { charsetOf, contentLength, decodeText, type Headers } from "./headers.ts"
import {
  broken,
  type DownloadFailed,
  deepestMessage,
  failed,
  passes,
  retryAfter,
  retryable,
  wrongSize
} from "./httpFailure.ts"

/** A response up to its body. */
export interface Response {
  /** The address of the response, after all redirects. */
  readonly url: URL
  readonly status: number
  readonly headers: Headers
  readonly source: HttpClientResponse.HttpClientResponse
  /** Waits until the callback is called. Fails if this takes longer than the longest pause. */
  readonly inTime: (begin: (resume: () => void) => void) => Effect.Effect<void, DownloadFailed>
}

/** Fails unless the status is 200 or in `alsoAccepts`. */
export const accept = Effect.fnUntraced(function* (
  response: Response,
  alsoAccepts: ReadonlySet<number> = new Set()
) {
  const { status, url } = response
  if (status !== 200 && !alsoAccepts.has(status)) {
    const refusal = `${url.origin} responds with HTTP ${status}`
    return yield* passes(status)
      ? retryable(refusal, { retryAfter: yield* retryAfter(response) })
      : failed(refusal, { isExpired: goneStatuses.has(status) })
  }
})

/** Statuses of a file that no longer exists, or not under this link. */
export const goneStatuses: ReadonlySet<number> = new Set([403, 404, 410])

/** Decoders by the names of codings, used even if the coding was not requested. */
const decoders: Readonly<Record<string, (first: Uint8Array) => Transform>> = {
  gzip: () => createGunzip(),
  // Some servers leave out the zlib header, and browsers accept this.
  deflate: ([first = 0]) => ((first & 0x0f) === 8 ? createInflate() : createInflateRaw()),
  br: () => createBrotliDecompress()
}

/** The limit of curl: each coding needs its own memory. */
const maxCodings = 5

const unknownCodings: ReadonlySet<string> = new Set(["compress", "zstd", "dcb", "dcz", "exi", "aes128gcm"])

/** The codings of the body, in the order of coding. Other names, such as `UTF-8`, do not count. */
export const codingsOf = (headers: Headers): ReadonlyArray<string> =>
  (headers["content-encoding"] ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase().replace(/^x-/, ""))
    .filter((name) => Object.hasOwn(decoders, name) || unknownCodings.has(name))

/** An empty body has no coding. */
async function* decoded(coded: AsyncIterable<Uint8Array>, coding: string) {
  const parts = coded[Symbol.asyncIterator]()
  const { done, value: first } = await parts.next()
  if (done === true) return
  async function* all() {
    yield first
    yield* { [Symbol.asyncIterator]: () => parts }
  }
  yield* pipeline(all, decoders[coding]?.(first) ?? new PassThrough(), () => {})
}

/** A received part of a body. */
export interface Part {
  /** As received, not joined. */
  readonly chunks: ReadonlyArray<Uint8Array>
  readonly length: number
  /** Whether no part follows. */
  readonly isLast: boolean
}

/** Reads a body from its beginning: at least this many bytes at a time, unless it ends or breaks off before. */
export type ReadPart = (atLeast: number) => Effect.Effect<Part, DownloadFailed>

/** Reads the body without its codings. */
export const reader = Effect.fnUntraced(function* ({
  headers,
  inTime,
  source,
  url
}: Response): Effect.fn.Return<ReadPart, DownloadFailed> {
  const codings = codingsOf(headers).toReversed()
  const unknown = codings.find((coding) => !Object.hasOwn(decoders, coding))
  if (unknown !== undefined) {
    return yield* failed(`${url.origin} sends the body compressed (${unknown}), which was not requested`)
  }
  if (codings.length > maxCodings) {
    return yield* failed(
      `${url.origin} sends the body compressed ${codings.length} times, more than ${maxCodings}`
    )
  }
  const body = nodeBodyOf(source) ?? (yield* NodeStream.toReadable(source.stream))
  return readerOf(
    codings.reduce((coded, coding) => Readable.from(decoded(coded, coding), { objectMode: false }), body),
    inTime,
    (cause) =>
      isDecoderError(cause)
        ? retryable(
            `${url.origin} sends a body that is not ${codings.join(", ")}, as its headers say: ${deepestMessage(cause)}`
          )
        : broken(url, cause)
  )
})

const isDecoderError = (cause: unknown): boolean => /^(?:Z_|ERR__ERROR_)/.test(errorCode(cause) ?? "")

/**
 * Node's own stream, which the clients of `@effect/platform-node` have, because a `Stream` takes longer than a small
 * body.
 */
const nodeBodyOf = (response: object): Readable | undefined => {
  const source = Predicate.hasProperty(response, "source") ? response.source : undefined
  const body = Predicate.hasProperty(source, "body") ? source.body : source
  return body instanceof Readable ? body : undefined
}

/** Whether the body was read to its end, so that its connection is free again. */
export const isWholeRead = ({ source }: Response): boolean => nodeBodyOf(source)?.readableEnded ?? false

/** In bytes: reading a longer body takes longer than opening another connection. */
const maxDropped = 64 * 1024

/** Reads an unneeded body, so that its connection is free again. Aborts a long body. */
export const drop = (response: Response): void => {
  let remaining = maxDropped
  nodeBodyOf(response.source)
    ?.on("error", () => {})
    .on("data", ({ length }: Uint8Array) => {
      remaining -= length
      if (remaining < 0) end(response)
    })
}

/** Aborts a body that is still arriving, with its connection. */
export const end = (response: Response): void => {
  if (!isWholeRead(response)) nodeBodyOf(response.source)?.destroy()
}

const readerOf = (
  body: Readable,
  inTime: Response["inTime"],
  failureOf: (cause: unknown) => DownloadFailed
): ReadPart => {
  let parts: Array<Uint8Array> = []
  let length = 0
  let failure: { readonly cause: unknown } | undefined =
    body.errored === null ? undefined : { cause: body.errored }
  let hasChanged = () => {}
  const fails = (cause: unknown) => {
    failure ??= { cause }
    hasChanged()
  }
  body
    .on("data", (part: Uint8Array) => {
      parts.push(part)
      length += part.length
      hasChanged()
    })
    .on("end", () => hasChanged())
    .on("error", fails)
    .on("close", () => (body.readableEnded ? hasChanged() : fails(new Error("it was closed"))))
    .pause()

  const isReady = (atLeast: number) => length >= atLeast || body.readableEnded || failure !== undefined

  /** Waits for more. A part may have arrived since the decision to wait, because a fiber may start late. */
  const change = (atLeast: number) =>
    inTime((resume) => {
      hasChanged = () => {
        hasChanged = () => {}
        resume()
      }
      body.resume()
      if (isReady(atLeast)) hasChanged()
    })

  const take = (): Effect.Effect<Part, DownloadFailed> => {
    const isLast = body.readableEnded
    body.pause()
    if (length === 0 && failure !== undefined && !isLast) return failureOf(failure.cause)
    const part = { chunks: parts, length, isLast }
    parts = []
    length = 0
    return Effect.succeed(part)
  }

  const read: ReadPart = (atLeast) =>
    Effect.suspend(() => (isReady(atLeast) ? take() : Effect.zipRight(change(atLeast), read(atLeast))))
  return read
}

export const joined = (chunks: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [first, ...more] = chunks
  return first !== undefined && more.length === 0 ? first : Buffer.concat(chunks)
}

/** Passes on the text of a body in UTF-8 while it arrives, of any length. */
export const forEachText = <E>(
  response: Response,
  use: (text: string) => Effect.Effect<void, E>
): Effect.Effect<void, E | DownloadFailed> => {
  const decoder = new TextDecoder()
  return Effect.flatMap(reader(response), (read) => {
    const next: Effect.Effect<void, E | DownloadFailed> = Effect.flatMap(read(1), ({ chunks, isLast }) =>
      Effect.zipRight(use(decoder.decode(joined(chunks), { stream: true })), isLast ? Effect.void : next)
    )
    return next
  })
}

/**
 * The bytes of a body without its codings, at most `maxBytes`. `option` is the name of this limit in the
 * configuration.
 */
export const readBytes: (
  response: Response,
  maxBytes: number,
  option?: string
) => Effect.Effect<Uint8Array, DownloadFailed> = Effect.fnUntraced(function* (response, maxBytes, option) {
  const { headers, url } = response
  const tooLarge = () =>
    failed(
      `${url.origin} gave more than ${sizeText(maxBytes)}${option === undefined ? "" : ` ("${option}")`}`
    )
  const length = contentLength(headers)
  if (length !== undefined && length > maxBytes) return yield* tooLarge()
  const read = yield* reader(response)
  const { chunks, isLast } = yield* read(maxBytes + 1)
  const bytes = joined(chunks)
  if (bytes.length > maxBytes) return yield* tooLarge()
  // The body has broken off: the next read returns the failure.
  if (!isLast) yield* read(1)
  return length !== undefined && bytes.length < length && codingsOf(headers).length === 0
    ? yield* retryable(wrongSize(url, bytes.length, length))
    : bytes
})

/** The text of a body. */
export const readText = Effect.fnUntraced(function* (...body: Parameters<typeof readBytes>) {
  const [{ headers, url }] = body
  const bytes = yield* readBytes(...body)
  const label = charsetOf(headers)
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    return yield* failed(
      `${url.origin} sends a gzip file instead of text. Unpack the file on the server, or let the server send "Content-Encoding: gzip"`
    )
  }
  return yield* Effect.try({
    try: () => decodeText(bytes, label),
    catch: () => failed(`${url.origin} sends text that is not in its declared or default encoding, ${label}`)
  })
})
