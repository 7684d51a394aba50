/**
 * The bodies of responses: which are accepted, and reading them.
 */
import { Duplex, PassThrough, pipeline, Readable } from "node:stream"
import { promisify } from "node:util"
import {
  brotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  gunzip,
  inflate,
  inflateRaw
} from "node:zlib"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { printableLine } from "../../internal/printable.ts"
import { sizeText } from "../../internal/readable.ts"
import { broken, type DownloadFailed, failed, retryable, wrongSize } from "./DownloadFailed.ts"
import type { DownloadPace } from "./DownloadPace.ts"
import { deepestMessage, passes, retryAfter } from "./HttpFailure.ts"
import { contentLength, type Headers } from "./headers.ts"

/** What has come before the body. */
export interface Response {
  /** Where it came from, to the end of all redirects. */
  readonly url: URL
  readonly status: number
  readonly headers: Headers
  readonly source: HttpClientResponse.HttpClientResponse
}

/** Fails unless the response has what was asked for, or a status that `alsoAccepts` has. */
export const accept = Effect.fnUntraced(function* (
  response: Response,
  alsoAccepts: ReadonlySet<number> = new Set()
) {
  const { status, url } = response
  if (status !== 200 && !alsoAccepts.has(status)) {
    const refusal = `${url.origin} responds with HTTP ${status}`
    return yield* passes(status)
      ? retryable(refusal, yield* retryAfter(response))
      : failed(refusal, { isExpired: goneStatuses.has(status) })
  }
})

/** Statuses of what was there, and is not any more, or not by this link. */
export const goneStatuses: ReadonlySet<number> = new Set([403, 404, 410])

type Decoder = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Promise<Buffer>

const inflateZlib: Decoder = promisify(inflate)
const inflateBare: Decoder = promisify(inflateRaw)

/** Some servers leave out the header of zlib in `deflate`, and browsers read it. */
const isZlib = ([first = 0]: Uint8Array): boolean => (first & 0x0f) === 8

const inflateEither: Decoder = (bytes, options) =>
  isZlib(bytes) ? inflateZlib(bytes, options) : inflateBare(bytes, options)

async function* inflateParts(coded: AsyncIterable<Buffer>) {
  const parts = coded[Symbol.asyncIterator]()
  const { done, value: first } = await parts.next()
  if (done === true) return
  async function* all() {
    yield first
    yield* { [Symbol.asyncIterator]: () => parts }
  }
  yield* pipeline(all, isZlib(first) ? createInflate() : createInflateRaw(), () => {})
}

/** Decoders by the names of codings, used even if the coding was not requested. */
const decoders: Readonly<Record<string, Decoder>> = {
  gzip: promisify(gunzip),
  deflate: inflateEither,
  br: promisify(brotliDecompress)
}

const unknownCodings: ReadonlySet<string> = new Set(["compress", "zstd", "dcb", "dcz", "exi", "aes128gcm"])

/** What the body is coded in, in the order of coding. Names that are none, such as `UTF-8`, do not count. */
export const codingsOf = (headers: Headers): ReadonlyArray<string> =>
  (headers["content-encoding"] ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase().replace(/^x-/, ""))
    .filter((name) => Object.hasOwn(decoders, name) || unknownCodings.has(name))

/** As they undo codings of what is not held in memory. */
const transforms: Readonly<Record<string, () => Duplex>> = {
  gzip: () => createGunzip(),
  deflate: () => Duplex.from(inflateParts),
  br: () => createBrotliDecompress()
}

const notAskedFor = ({ origin }: URL, coding: string) =>
  failed(`${origin} gives it compressed (${coding}), which was not asked for`)

/** What has come of a body. */
export interface Part {
  readonly bytes: Uint8Array
  /** Whether nothing follows. */
  readonly isLast: boolean
}

/** Reads a body from its beginning: at least so many bytes at a time, unless it ends or breaks off before. */
export type ReadPart = (atLeast: number) => Effect.Effect<Part, DownloadFailed>

/** The body as it comes. */
export const reader = (response: Response, pace: DownloadPace): Effect.Effect<ReadPart> =>
  Effect.map(bodyOf(response), (body) => readerOf(body, response.url, pace))

/** The body without its codings, of which it may have more than were asked for. */
export const unpackedReader = (
  response: Response,
  pace: DownloadPace
): Effect.Effect<ReadPart, DownloadFailed> => {
  const codings = codingsOf(response.headers).toReversed()
  if (codings.length === 0) return reader(response, pace)
  const unknown = codings.find((coding) => !Object.hasOwn(transforms, coding))
  return unknown !== undefined
    ? notAskedFor(response.url, unknown)
    : Effect.map(bodyOf(response), (body) => {
        const last = codings.reduce<Readable>((coded, coding) => {
          const transform = transforms[coding]?.() ?? new PassThrough()
          pipeline(coded, transform, () => {})
          return transform
        }, body)
        return readerOf(last, response.url, pace)
      })
}

/** By Node's own stream, which the clients of `@effect/platform-node` have: a `Stream` takes longer than a small body. */
const bodyOf = ({ source }: Response): Effect.Effect<Readable> => {
  const body = nodeBodyOf(source)
  return body === undefined ? NodeStream.toReadable(source.stream) : Effect.succeed(body)
}

const nodeBodyOf = (response: object): Readable | undefined => {
  const source = Predicate.hasProperty(response, "source") ? response.source : undefined
  const body = Predicate.hasProperty(source, "body") ? source.body : source
  return body instanceof Readable ? body : undefined
}

/** Whether its connection is free again. */
export const isWholeRead = ({ source }: Response): boolean => nodeBodyOf(source)?.readableEnded ?? false

const readerOf = (body: Readable, url: URL, pace: DownloadPace): ReadPart => {
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
      pace.came(part.length)
      parts.push(part)
      length += part.length
      hasChanged()
    })
    .on("end", () => hasChanged())
    .on("error", fails)
    .on("close", () => (body.readableEnded ? hasChanged() : fails(new Error("it was closed"))))
    .pause()

  return (atLeast) =>
    Effect.async((resume) => {
      hasChanged = () => {
        const isLast = body.readableEnded
        if (length < atLeast && !isLast && failure === undefined) {
          pace.waits()
          return
        }
        hasChanged = () => {}
        body.pause()
        if (length === 0 && failure !== undefined && !isLast) {
          resume(Effect.fail(broken(url, failure.cause)))
          return
        }
        const [first, ...more] = parts
        const bytes = more.length === 0 && first !== undefined ? first : Buffer.concat(parts)
        parts = []
        length = 0
        resume(Effect.succeed({ bytes, isLast }))
      }
      body.resume()
      hasChanged()
    })
}

/** Gives the text of a body in UTF-8 while it comes, however long it is. */
export const forEachText = <E>(
  response: Response,
  pace: DownloadPace,
  use: (text: string) => Effect.Effect<void, E>
): Effect.Effect<void, E | DownloadFailed> => {
  const decoder = new TextDecoder()
  pace.came(0)
  pace.waits()
  return Effect.flatMap(unpackedReader(response, pace), (read) => {
    const next: Effect.Effect<void, E | DownloadFailed> = Effect.flatMap(read(1), ({ bytes, isLast }) =>
      Effect.zipRight(use(decoder.decode(bytes, { stream: true })), isLast ? Effect.void : next)
    )
    return next
  })
}

/** The bytes of a body without its codings, no more than `maxBytes` either way. `option` is what a user calls that. */
export const readBytes = Effect.fnUntraced(function* (
  response: Response,
  pace: DownloadPace,
  maxBytes: number,
  option?: string
) {
  const { url } = response
  const tooLarge = () =>
    failed(
      `${url.origin} gave more than ${sizeText(maxBytes)}${option === undefined ? "" : ` ("${option}")`}`
    )
  const length = contentLength(response.headers)
  if (Option.exists(length, (length) => length > maxBytes)) return yield* tooLarge()
  const read = yield* reader(response, pace)
  const { bytes: whole, isLast } = yield* read(maxBytes + 1)
  if (whole.length > maxBytes) return yield* tooLarge()
  // It has broken off: that is what is read next.
  if (!isLast) yield* read(1)
  const expected = Option.getOrElse(length, () => whole.length)
  if (whole.length < expected) {
    return yield* retryable(wrongSize(url, whole.length, expected))
  }
  let body = whole
  for (const coding of codingsOf(response.headers).toReversed()) {
    const decode = decoders[coding]
    if (decode === undefined) {
      return yield* notAskedFor(url, coding)
    }
    const coded = body
    body = yield* Effect.tryPromise({
      try: async () => (coded.length === 0 ? coded : decode(coded, { maxOutputLength: maxBytes })),
      catch: (cause) =>
        cause instanceof RangeError
          ? tooLarge()
          : retryable(`${url.origin} gives what is not ${coding}, as it says: ${deepestMessage(cause)}`)
    })
  }
  return body
})

/** The text of a body. */
export const readText = Effect.fnUntraced(function* (...body: Parameters<typeof readBytes>) {
  const [{ headers, url }] = body
  const bytes = yield* readBytes(...body)
  const label = charsetOf(headers)
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    return yield* failed(
      `${url.origin} gives a file that is packed with gzip, and no text. Unpack it there, or let the server say "Content-Encoding: gzip"`
    )
  }
  return yield* Effect.try({
    try: () => decodeText(bytes, label),
    catch: () => failed(`${url.origin} gives text that is not ${label}, as it says or leaves to be assumed`)
  })
})

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/**
 * Where the label is that of an encoding with one byte for a letter, or unknown, bytes beyond ASCII that are UTF-8 are that: hardly any
 * other text happens to be. Throws where it is no text in the encoding.
 */
export const decodeText = (bytes: Uint8Array, said: string): string => {
  const label =
    marks.find(({ mark }) => mark.every((byte, index) => bytes[index] === byte))?.encoding ??
    wideEncodingOf(bytes) ??
    said
  const decoder = Option.getOrUndefined(makeDecoder(label))
  if (decoder !== undefined && !/^(?:iso-8859|windows|koi8|mac|x-mac|ibm)/.test(decoder.encoding)) {
    return decoder.decode(bytes)
  }
  try {
    return utf8.decode(bytes)
  } catch (error) {
    if (decoder === undefined) throw error
    const text = decoder.decode(bytes)
    return decoder.encoding === "windows-1252"
      ? text.replaceAll(/[\x80-\x9f]/g, (letter) => windows1252[letter.charCodeAt(0) - 0x80] ?? letter)
      : text
  }
}

/** The letters from 0x80 to 0x9f, which Node 20 reads as those of ISO 8859-1. */
const windows1252 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ"

/** A byte order mark overrides everything else. */
const marks = [
  { encoding: "utf-8", mark: [0xef, 0xbb, 0xbf] },
  { encoding: "utf-16le", mark: [0xff, 0xfe] },
  { encoding: "utf-16be", mark: [0xfe, 0xff] }
]

/** No text begins with a zero: as one half of the first letter, it says how the others are written. */
const wideEncodingOf = ([first, second]: Uint8Array): string | undefined =>
  first === 0 && (second ?? 0) > 0 ? "utf-16be" : (first ?? 0) > 0 && second === 0 ? "utf-16le" : undefined

const makeDecoder = Option.liftThrowable(
  (label: string) => new TextDecoder(label, { fatal: true, ignoreBOM: true })
)

/** The declared encoding of a body; UTF-8 by default. */
export const charsetOf = (headers: Headers): string =>
  printableLine(/;\s*charset\s*=\s*["']?([^\s"';]+)/i.exec(headers["content-type"] ?? "")?.[1] ?? "utf-8", 40)
