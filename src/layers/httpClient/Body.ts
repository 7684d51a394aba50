/**
 * The bodies of responses: which are accepted, and reading them.
 */
import type { Duplex } from "node:stream"
import { promisify } from "node:util"
import {
  brotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  gunzip,
  inflate,
  inflateRaw
} from "node:zlib"
import { ResponseError } from "@effect/platform/HttpClientError"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { printableLine } from "../../internal/printable.ts"
import { sizeText } from "../../internal/readable.ts"
import { broken, type DownloadFailed, type Failure, failed, retryable, wrongSize } from "./DownloadFailed.ts"
import type { DownloadPace } from "./DownloadPace.ts"
import { deepestMessage, passes, retryAfter } from "./HttpFailure.ts"
import { contentLength, type Headers } from "./headers.ts"

type Response = HttpClientResponse.HttpClientResponse

/** Fails unless the response has what was asked for, or a status that `alsoAccepts` has. */
export const accept = Effect.fnUntraced(function* (
  response: Response,
  alsoAccepts: ReadonlySet<number> = new Set()
) {
  const { status } = response
  if (status !== 200 && !alsoAccepts.has(status)) {
    const refusal = `${new URL(response.request.url).origin} responds with HTTP ${status}`
    return yield* passes(status)
      ? Effect.fail(retryable(refusal, yield* retryAfter(response)))
      : failed(refusal, { isExpired: goneStatuses.has(status) })
  }
})

/** Statuses of what was there, and is not any more, or not by this link. */
export const goneStatuses: ReadonlySet<number> = new Set([403, 404, 410])

type Decoder = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Promise<Buffer>

const inflateZlib: Decoder = promisify(inflate)
const inflateBare: Decoder = promisify(inflateRaw)

/** Some servers leave out the header of zlib in `deflate`, and browsers read it. */
const inflateEither: Decoder = (bytes, options) =>
  ((bytes[0] ?? 0) & 0x0f) === 8 ? inflateZlib(bytes, options) : inflateBare(bytes, options)

/** Codings that are undone, by their names, also where nobody asked for them. */
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
  deflate: () => createInflate(),
  br: () => createBrotliDecompress()
}

/** A response whose body comes without its codings, of which it may have more than were asked for. */
export const unpacked = (response: Response): Effect.Effect<Part, DownloadFailed> =>
  Effect.gen(function* () {
    const { headers, request } = response
    let { stream } = response
    for (const coding of codingsOf(headers).toReversed()) {
      const transform = transforms[coding]
      if (transform === undefined) return yield* notAskedFor(new URL(request.url), coding)
      stream = NodeStream.pipeThroughDuplex(
        stream,
        transform,
        (cause) => new ResponseError({ request, response, reason: "Decode", cause })
      )
    }
    return { request, stream }
  })

type Part = Pick<Response, "request" | "stream">

const notAskedFor = ({ origin }: URL, coding: string) =>
  failed(`${origin} gives it compressed (${coding}), which was not asked for`)

/** Gives each part of the body that is not empty, one after the other. */
export const forEachPart = <E>(
  { request, stream }: Part,
  pace: DownloadPace,
  use: (part: Uint8Array) => Effect.Effect<void, E>
): Effect.Effect<void, E | Failure> =>
  // Pulled by hand: for some parts, a `Stream.run…` takes longer than what is done with them.
  Effect.scoped(
    Effect.flatMap(Stream.toPull(stream), (pull) => {
      const next: Effect.Effect<void, E | Failure> = Effect.matchEffect(pull, {
        onFailure: Option.match({
          onNone: () => Effect.void,
          onSome: ({ cause }) => Effect.fail(broken(new URL(request.url), cause))
        }),
        // All that has come meanwhile is one part: what is done with each may take a turn of a thread.
        onSuccess: (chunks) => {
          const [first, ...more] = chunks
          const part = more.length === 0 && first !== undefined ? first : Buffer.concat([...chunks])
          if (part.length === 0) {
            return next
          }
          pace.came(part.length)
          return Effect.flatMap(use(part), () => {
            pace.waits()
            return next
          })
        }
      })
      return next
    })
  )

/** Gives the text of a body in UTF-8 while it comes, however long it is. */
export const forEachText = <E>(
  response: Response,
  pace: DownloadPace,
  use: (text: string) => Effect.Effect<void, E>
): Effect.Effect<void, E | Failure> => {
  const decoder = new TextDecoder()
  pace.came(0)
  pace.waits()
  return Effect.flatMap(unpacked(response), (part) =>
    forEachPart(part, pace, (bytes) => use(decoder.decode(bytes, { stream: true })))
  )
}

/** The bytes of a body without its codings, no more than `maxBytes` either way. `option` is what a user calls that. */
export const readBytes = Effect.fnUntraced(function* (
  response: Response,
  pace: DownloadPace,
  maxBytes: number,
  option?: string
) {
  const url = new URL(response.request.url)
  const tooLarge = () =>
    failed(
      `${url.origin} gave more than ${sizeText(maxBytes)}${option === undefined ? "" : ` ("${option}")`}`
    )
  const length = contentLength(response.headers)
  if (Option.exists(length, (length) => length > maxBytes)) return yield* tooLarge()
  const parts: Array<Uint8Array> = []
  let bytes = 0
  yield* forEachPart(response, pace, (part) => {
    parts.push(part)
    bytes += part.length
    return bytes > maxBytes ? tooLarge() : Effect.void
  })
  const expected = Option.getOrElse(length, () => bytes)
  if (bytes < expected) {
    return yield* Effect.fail(retryable(wrongSize(url, bytes, expected)))
  }
  let body: Uint8Array = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts)
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
  const [{ headers, request }] = body
  const bytes = yield* readBytes(...body)
  const label = charsetOf(headers)
  return yield* Effect.try({
    try: () => decodeText(bytes, label),
    catch: () =>
      failed(
        `${new URL(request.url).origin} gives text that is not ${label}, as it says or leaves to be assumed`
      )
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

/** What a byte order mark says is right, whatever else is said. */
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

/** What a body is said to be written in; UTF-8 where nothing is said. */
export const charsetOf = (headers: Headers): string =>
  printableLine(/;\s*charset\s*=\s*["']?([^\s"';]+)/i.exec(headers["content-type"] ?? "")?.[1] ?? "utf-8", 40)
