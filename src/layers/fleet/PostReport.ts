/**
 * One report, posted: what is sent, and what the response means.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { printableLine } from "../../internal/printable.ts"
import { type PlayerReport, ReportAnswer } from "../../services/PlayerReport.ts"
import * as Requests from "../httpClient/Requests.ts"
import type { ReportOptions } from "./ReportOptions.ts"

/** A report was not taken. */
export class NotTaken extends Data.TaggedError("vitrine/NotTaken")<{
  /** Why, and what to do about it where that is known. */
  readonly detail: string
}> {}

export type PostReport = (report: PlayerReport) => Effect.Effect<ReportAnswer, NotTaken>

/** In milliseconds, for all of it. */
const postTimeout = 10_000

const maxAnswerBytes = 4096

const decodeAnswer = Schema.decodeUnknown(Schema.parseJson(ReportAnswer))

export const make = Effect.fnUntraced(function* ({ to, token }: ReportOptions) {
  const requests = yield* Requests.make({
    maxTimeout: postTimeout,
    isWhole: true,
    maxBytes: maxAnswerBytes,
    maxBytesOption: ""
  })
  const url = new URL("vitrine/reports", to)
  const headers = {
    authorization: `Bearer ${Redacted.value(token)}`,
    accept: "application/json",
    "accept-encoding": "identity"
  }

  const post: PostReport = Effect.fnUntraced(function* (report) {
    // Not compressed: it mostly fits into one packet as it is, and a hub would unpack a hundred in a second.
    const body = JSON.stringify(report)
    const { text } = yield* Effect.mapError(
      requests.attempt({ url: url.href, headers, body, follows: false }),
      (failure) => new NotTaken({ detail: refusalOf(failure, url) })
    )
    const { vitrine, ...answer } = yield* Effect.mapError(
      decodeAnswer(text),
      () =>
        new NotTaken({
          detail: `what responds at ${url.href} is no content server. Check the address in "report"`
        })
    )
    return { ...answer, vitrine: printableLine(vitrine, maxVersion) }
  })

  return post
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
      return `${origin} refuses the token (${status}): the one in "report" must be that of "reports" of its contentServer`
    case 404:
    case 405:
      return `${origin} takes no reports (${status}): set "reports" of its contentServer, or correct the address in "report"`
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
