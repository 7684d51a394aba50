/**
 * Reads the body of a report: JSON, with or without gzip. The limit holds before and after decompression.
 */
import { gunzipSync } from "node:zlib"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { issueText, placedIssues } from "../../internal/parseIssues.ts"
import { errorCode } from "../../internal/serializeError.ts"
import { maxReportBytes, PlayerReport } from "../../services/PlayerReport.ts"
import { BadRequest, type BodyTooLarge, bodyTooLarge } from "../http/errors.ts"
import * as RequestBody from "../http/RequestBody.ts"
import { codingsOf } from "../httpClient/Body.ts"
import { charsetOf, decodeText } from "../httpClient/headers.ts"

const tooLarge = bodyTooLarge(maxReportBytes)

/** Stops at the limit. Synchronous: decompressing so little is faster than a handover to another thread. */
const gunzip = (bytes: Uint8Array): Effect.Effect<Uint8Array, BadRequest | BodyTooLarge> =>
  Effect.try({
    try: () => gunzipSync(bytes, { maxOutputLength: maxReportBytes }),
    catch: (error) =>
      errorCode(error) === "ERR_BUFFER_TOO_LARGE"
        ? tooLarge
        : new BadRequest({ message: "The body is not valid gzip." })
  })

const unpacked = (
  bytes: Uint8Array,
  codings: ReadonlyArray<string>
): Effect.Effect<Uint8Array, BadRequest | BodyTooLarge> => {
  if (codings.length === 0) {
    return bytes.length > maxReportBytes ? tooLarge : Effect.succeed(bytes)
  }
  return codings.length === 1 && codings[0] === "gzip"
    ? gunzip(bytes)
    : new BadRequest({ message: 'The "Content-Encoding" must be gzip or missing.' })
}

const parse = Schema.decodeUnknown(Schema.parseJson())

const decode = Schema.decodeUnknown(PlayerReport)

/** The report in the body of the request. */
export const readReport = Effect.gen(function* () {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const bytes = yield* unpacked(yield* RequestBody.read, codingsOf(headers))
  const input = yield* Effect.try(() => decodeText(bytes, charsetOf(headers))).pipe(
    Effect.flatMap((text) => parse(text.replace(/^\ufeff/, ""))),
    Effect.mapError(() => new BadRequest({ message: "The body is not valid JSON." }))
  )
  return yield* Effect.mapError(
    decode(input),
    (error) => new BadRequest({ message: `The report cannot be used: ${issueText(placedIssues(error))}` })
  )
})
