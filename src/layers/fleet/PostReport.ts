/**
 * The hub that a player reports to. Posts one report, and reads the response; sends one picture.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { expectsSecret } from "../../internal/Options.ts"
import { envFileHint, isHttpBase, secret } from "../../internal/optionSchemas.ts"
import { printableLine } from "../../internal/printable.ts"
import { type PlayerReport, ReportAnswer } from "../../services/PlayerReport.ts"
import type { WantedPicture } from "../../services/ScreenPictures.ts"
import * as Requests from "../httpClient/Requests.ts"

/** A wrong value is not displayed: it may have a password. */
const to = Schema.transform(
  expectsSecret(
    Schema.String.pipe(Schema.filter(isHttpBase)),
    'the address of the content server of a hub, an http or https URL without credentials, query or fragment, such as "http://hub:8730"'
  ),
  Schema.String,
  { strict: true, decode: (text) => text.replace(/(?<!\/)\/*$/, "/"), encode: (address) => address }
)

/** The hub that a player reports to, and its token. */
export interface ReportConfig {
  /** The address of the hub's content server. It may differ from the address that versions are copied from. */
  readonly to: string

  /** The token of `reports` at the hub. */
  readonly token: string | Redacted.Redacted
}

export const ReportOptions = expectsSecret(
  Schema.Struct({
    /** With a slash at the end. */
    to,
    token: secret(
      (text) => /^[\x21-\x7e]+$/.test(text),
      `the token of "reports" at the hub: printable ASCII characters without spaces (is it set? ${envFileHint})`
    )
  }),
  "an object { to, token }"
)
export type ReportOptions = typeof ReportOptions.Type

/** The hub did not accept a report or a picture. */
export class ReportRefused extends Schema.TaggedError<ReportRefused>()("vitrine/ReportRefused", {
  /** The reason, and what to do about it if this is known. */
  detail: Schema.String
}) {}

export type PostReport = (report: PlayerReport) => Effect.Effect<ReportAnswer, ReportRefused>

/** A picture that the hub wants of a screen of this player. */
export interface WantedOfPlayer extends WantedPicture {
  readonly player: string
}

/** Sends a picture in JPEG, or the reason in words. It is no failure if the hub does not want the picture any more. */
export type PutPicture = (
  wanted: WantedOfPlayer,
  answer: Either.Either<Uint8Array, string>
) => Effect.Effect<void, ReportRefused>

/** For the whole request, in milliseconds. */
const postTimeout = 10_000
const pictureTimeout = 30_000

const maxAnswerBytes = 8192

const decodeAnswer = Schema.decodeUnknown(Schema.parseJson(ReportAnswer))

export const make = Effect.fnUntraced(function* ({ to, token }: ReportOptions) {
  const requests = yield* Requests.make({
    maxTimeout: postTimeout,
    isWhole: true,
    maxBytes: maxAnswerBytes,
    maxBytesOption: ""
  })
  const pictures = yield* Requests.make({
    maxTimeout: pictureTimeout,
    isWhole: true,
    maxBytes: maxAnswerBytes
  })
  const url = new URL("vitrine/reports", to)
  const headers = {
    authorization: `Bearer ${Redacted.value(token)}`,
    accept: "application/json",
    "accept-encoding": "identity"
  }

  const post: PostReport = Effect.fnUntraced(function* (report) {
    // Not compressed: most reports fit into one packet, and a hub would have to decompress a hundred in a second.
    const body = JSON.stringify(report)
    const { text } = yield* Effect.mapError(
      requests.attempt({ url: url.href, headers, body, follows: false }),
      (failure) => new ReportRefused({ detail: refusalOf(failure, url) })
    )
    const { vitrine, ...answer } = yield* Effect.mapError(
      decodeAnswer(text),
      () =>
        new ReportRefused({
          detail: `the server at ${url.href} is no content server. Check the address in "report"`
        })
    )
    return { ...answer, vitrine: printableLine(vitrine, maxVersion) }
  })

  const putPicture: PutPicture = ({ number, player, screen }, answer) =>
    pictures
      .ask({
        url: new URL(`vitrine/pictures/${encodeURIComponent(player)}/${encodeURIComponent(screen)}`, to).href,
        method: "PUT",
        headers: {
          ...headers,
          "content-type": Either.isRight(answer) ? "image/jpeg" : "text/plain; charset=utf-8",
          "vitrine-picture": number
        },
        body: Either.merge(answer),
        follows: false,
        isStatusOnly: true
      })
      .pipe(
        Effect.asVoid,
        Effect.catchAll(({ detail, status }) =>
          status === 409 ? Effect.void : new ReportRefused({ detail })
        )
      )

  return { post, putPicture }
})

/** The longest version of Vitrine, in characters. */
const maxVersion = 64

const refusalOf = (
  { detail, reason, redirectsTo = "another address", status }: Requests.RequestFailed,
  { origin }: URL
): string => {
  switch (status) {
    case 401:
    case 403:
      return `${origin} refuses the token (${status}): the token in "report" must equal the token of "reports" of its contentServer`
    case 404:
    case 405:
      return `${origin} accepts no reports (${status}): set "reports" of its contentServer, or correct the address in "report"`
    case 413:
      return `the report is too large for ${origin} (413): run the same version of Vitrine there and here`
    case undefined:
      return reason === "Timeout" ? `${origin} did not respond within ${postTimeout} ms` : detail
    default:
      return status >= 300 && status < 400
        ? `${origin} redirects to ${redirectsTo}, which reports do not follow: set the address of the hub itself in "report"`
        : `${origin} responds with HTTP ${status}`
  }
}
