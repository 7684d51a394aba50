/**
 * The bodies of responses: which are accepted, and reading them.
 */
import { promisify } from "node:util"
import { gunzip } from "node:zlib"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { printableLine } from "../../internal/printable.ts"
import { sizeText } from "../../internal/readable.ts"
import { broken, type Failure, failed, retryable, wrongSize } from "./DownloadFailed.ts"
import type { DownloadPace } from "./DownloadPace.ts"
import { retryAfter } from "./HttpFailure.ts"

type Response = HttpClientResponse.HttpClientResponse

/** Fails unless the response has what was asked for, or a status that `alsoAccepts` has. */
export const accept = Effect.fnUntraced(function* (
  response: Response,
  encoding: string,
  alsoAccepts: ReadonlySet<number> = new Set()
) {
  const { status } = response
  const { origin } = new URL(response.request.url)
  if (status !== 200 && !alsoAccepts.has(status)) {
    const refusal = `${origin} responds with HTTP ${status}`
    return yield* status >= 500 || status === 429
      ? Effect.fail(retryable(refusal, yield* retryAfter(response)))
      : failed(refusal, { isExpired: expiredStatuses.has(status) })
  }
  if (!["identity", encoding].includes(encodingOf(response))) {
    return yield* failed(`${origin} gives it compressed (${encodingOf(response)}), which was not asked for`)
  }
})

const expiredStatuses: ReadonlySet<number> = new Set([403, 404, 410])

const encodingOf = ({ headers }: Response): string => headers["content-encoding"] ?? "identity"

/** In bytes. */
export const contentLength = ({ headers }: Pick<Response, "headers">): Option.Option<number> => {
  const length = headers["content-length"] ?? ""
  return /^\d+$/.test(length) ? Option.some(Number(length)) : Option.none()
}

/**
 * Whether it was changed so recently that it could change again under the same tag: that of static servers may be made of
 * a time in seconds (RFC 9110, section 8.8.2.2).
 */
export const mayChangeUnseen = ({ headers }: Pick<Response, "headers">): boolean =>
  Date.parse(headers.date ?? "") - Date.parse(headers["last-modified"] ?? "") < 2000

/** Gives each part of the body that is not empty, one after the other. */
export const forEachPart = <E>(
  { request, stream }: Response,
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

/**
 * The text of a body, which has no more bytes than `maxBytes`, compressed and decompressed. `option` is what a user calls that.
 */
export const readText = Effect.fnUntraced(function* (
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
  const parts: Array<Uint8Array> = []
  let bytes = 0
  yield* forEachPart(response, pace, (part) => {
    parts.push(part)
    bytes += part.length
    return bytes > maxBytes ? tooLarge() : Effect.void
  })
  const expected = Option.getOrElse(contentLength(response), () => bytes)
  if (bytes < expected) {
    return yield* Effect.fail(retryable(wrongSize(url, bytes, expected)))
  }
  const body = Buffer.concat(parts)
  const unpacked =
    encodingOf(response) === "identity"
      ? body
      : yield* Effect.tryPromise({
          try: () => unpack(body, { maxOutputLength: maxBytes }),
          catch: (cause) => (cause instanceof RangeError ? tooLarge() : broken(url, cause))
        })
  const charset = charsetOf(response)
  return yield* Effect.try({
    try: () => new TextDecoder(charset, { fatal: true, ignoreBOM: true }).decode(unpacked),
    catch: () => failed(`${url.origin} gives text that is not ${charset}, as it says or leaves to be assumed`)
  })
})

/** What a body is written in; UTF-8 where nothing is said. */
const charsetOf = ({ headers }: Response): string =>
  printableLine(/;\s*charset="?([^\s";]+)/i.exec(headers["content-type"] ?? "")?.[1] ?? "utf-8", 40)

const unpack = promisify(gunzip)
