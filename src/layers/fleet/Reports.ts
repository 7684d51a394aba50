/**
 * Receives the reports of players: the route of a hub, and the state of its players.
 */

import { gunzipSync } from "node:zlib"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { vitrineVersion } from "../../internal/machine.ts"
import { issueText, placedIssues } from "../../internal/Options.ts"
import { errorCode } from "../../internal/serializeError.ts"
import { makeWarnOnce } from "../../internal/warnOnce.ts"
import { maxReportBytes, PlayerReport } from "../../services/PlayerReport.ts"
import { ScreenPictures } from "../../services/ScreenPictures.ts"
import { json } from "../http/Application.ts"
import { BadRequest, type BodyTooLarge, bodyTooLarge, jsonRequired, tokenRequired } from "../http/errors.ts"
import { take as takePicture } from "../http/pictureBody.ts"
import * as RequestBody from "../http/RequestBody.ts"
import { isJson, tokenCheck } from "../http/RequestHead.ts"
import { codingsOf } from "../httpClient/Body.ts"
import { charsetOf, decodeText } from "../httpClient/headers.ts"
import * as Answers from "./Answers.ts"
import * as KeptPlayers from "./KeptPlayers.ts"

export interface Options {
  readonly downloadPath: string
  readonly reports: { readonly token: Redacted.Redacted }
}

/** Starts with the players that were saved last, and saves players until the scope ends. */
export const make = Effect.fnUntraced(function* ({ downloadPath, reports: { token } }: Options) {
  const kept = yield* KeptPlayers.make(downloadPath)
  const answers = yield* Answers.make
  const pictures = yield* ScreenPictures
  const warnOnce = makeWarnOnce((message) => message)
  const hasToken = tokenCheck(token)

  const report = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    if (!hasToken(request)) {
      return yield* noToken
    }
    if (!isJson(request.headers["content-type"])) {
      return yield* jsonRequired
    }
    const { done, watched, ...report } = yield* readReport
    yield* Effect.tapErrorTag(
      KeptPlayers.add(kept, { report, address: addressOf(request) }),
      "vitrine/NoRoom",
      ({ message }) => warnOnce(message)
    )
    // A player that ends would not perform actions.
    return json(
      report.stoppedBy === undefined
        ? yield* Answers.answerTo(answers, report.node.id, done, watched)
        : { vitrine: vitrineVersion }
    )
  })

  const picture = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    return hasToken(request) ? yield* takePicture(pictures) : yield* noToken
  })

  return {
    routes: [
      HttpLayerRouter.route("POST", "/vitrine/reports", report),
      HttpLayerRouter.route("PUT", "/vitrine/pictures/:player/:screen", picture)
    ],
    players: KeptPlayers.list(kept)
  }
})

const noToken = tokenRequired(
  'Token required: send "Authorization: Bearer TOKEN" with the "token" of the "reports" of the content server.'
)

const addressOf = ({ remoteAddress }: HttpServerRequest.HttpServerRequest): string =>
  Option.getOrElse(remoteAddress, () => "unknown").replace(/^::ffff:/, "")

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

/**
 * The report in the body of the request: JSON, with or without gzip. The limit holds before and after decompression.
 */
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
