/**
 * One report, posted: what is sent, and what the response means.
 */
import { gzipSync } from "node:zlib"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { printableLine } from "../../internal/printable.ts"
import { type PlayerReport, ReportAnswer } from "../../services/PlayerReport.ts"
import * as Body from "../httpClient/Body.ts"
import { connectionFailed } from "../httpClient/DownloadFailed.ts"
import * as DownloadPace from "../httpClient/DownloadPace.ts"
import * as Get from "../httpClient/Get.ts"
import { originOf, Retryable, withTimeout } from "../httpClient/HttpFailure.ts"
import { naming } from "../httpClient/localAddress.ts"
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

export const make = ({ to, token }: ReportOptions): Effect.Effect<PostReport, never, HttpClient.HttpClient> =>
  Effect.map(HttpClient.HttpClient, (client) => {
    const http = Get.plainRequests(client)
    const url = new URL("vitrine/reports", to)
    const request = HttpClientRequest.post(url, {
      headers: {
        authorization: `Bearer ${Redacted.value(token)}`,
        "content-encoding": "gzip",
        accept: "application/json",
        "accept-encoding": "identity"
      }
    })

    const post = Effect.fnUntraced(function* (report: PlayerReport) {
      // Of 16 KiB at most: a thread would take longer.
      const body = gzipSync(JSON.stringify(report))
      const response = yield* Effect.mapError(
        naming(to)(http.execute(HttpClientRequest.bodyUint8Array(request, body, "application/json"))),
        ({ cause }) => connectionFailed(url, cause)
      )
      if (response.status !== 200) {
        return yield* new NotTaken({ detail: refusalOf(response, url) })
      }
      const text = yield* Body.readText(response, yield* DownloadPace.make(postTimeout), maxAnswerBytes)
      const { vitrine } = yield* Effect.mapError(
        decodeAnswer(text),
        () =>
          new NotTaken({
            detail: `what responds at ${url.href} is no content server. Check the address in "report"`
          })
      )
      return { vitrine: printableLine(vitrine, maxVersion) }
    })

    return (report) =>
      post(report).pipe(
        Effect.scoped,
        Effect.mapError((failure) => (failure instanceof Retryable ? failure.error : failure)),
        Effect.mapError((failure) => new NotTaken({ detail: failure.detail })),
        withTimeout(
          postTimeout,
          () => new NotTaken({ detail: `${url.origin} did not respond within ${postTimeout} ms` })
        )
      )
  })

/** Of the version of Vitrine, in characters. */
const maxVersion = 64

const refusalOf = ({ headers, status }: HttpClientResponse.HttpClientResponse, { origin }: URL): string => {
  switch (status) {
    case 401:
    case 403:
      return `${origin} refuses the token (${status}): the one in "report" must be that of "reports" of its contentServer`
    case 404:
    case 405:
      return `${origin} takes no reports (${status}): set "reports" of its contentServer, or correct the address in "report"`
    case 413:
      return `the report is too large for ${origin} (413): run the same version of Vitrine there and here`
    default:
      return status >= 300 && status < 400
        ? `${origin} redirects to ${originOf(headers.location)}, which reports do not follow: set the address of the hub itself in "report"`
        : `${origin} responds with HTTP ${status}`
  }
}
