/**
 * What a request gets that has a fault.
 */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { type ApiError, errorOfStatus, quotaSpent } from "../ApiError.ts"
import * as Connection from "../node/Connection.ts"
import type { ResponseFault } from "./Fault.ts"
import type { Faults, Place } from "./Faults.ts"

/** Gives the answer, or what a fault makes of it. */
export const orFault = <E, R>(
  faults: Faults,
  place: Place,
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  E | ApiError,
  R | HttpServerRequest.HttpServerRequest
> =>
  Effect.flatMap(
    faults.take(place),
    Option.match({ onNone: () => answer, onSome: (fault) => perform(fault, answer) })
  )

/** Longer than a person waits, shorter than most clients. */
const slowMs = 10_000

const perform = <E, R>(
  { retryAfter, what }: ResponseFault,
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  E | ApiError,
  R | HttpServerRequest.HttpServerRequest
> => {
  switch (what) {
    case "quota":
      return quotaSpent
    case "html":
      return HttpServerResponse.html(
        "<!doctype html><title>Welcome</title><p>Sign in to use this network.</p>"
      )
    case "no-records":
      return Effect.succeed(HttpServerResponse.unsafeJson({}))
    case "short":
      return Effect.map(answer, (response) => {
        const { contentLength, stream } = firstHalf(response)
        return withBody(response, stream, contentLength)
      })
    case "cut":
      return Effect.zipWith(answer, HttpServerRequest.HttpServerRequest, (response, request) => {
        const close = Stream.fromEffect(Connection.close(request))
        return begun(response, Stream.drain(close))
      })
    case "reset":
      return Effect.zipRight(
        Effect.flatMap(HttpServerRequest.HttpServerRequest, Connection.reset),
        Effect.never
      )
    case "slow":
      return Effect.delay(answer, slowMs)
    case "stall":
      return Effect.never
    case "stall-body":
      return Effect.map(answer, (response) => begun(response, Stream.empty))
    default:
      return errorOfStatus(what, retryAfter)
  }
}

/** The head of a response and the first half of its body; then what is told, and nothing more. */
const begun = (response: HttpServerResponse.HttpServerResponse, then: Stream.Stream<never>) => {
  const { stream } = firstHalf(response)
  const rest = Stream.concat(then, Stream.never)
  return withBody(response, Stream.concat(stream, rest), response.body.contentLength)
}

const withBody = (
  { headers, status }: HttpServerResponse.HttpServerResponse,
  body: Stream.Stream<Uint8Array, unknown>,
  contentLength: number | undefined
) =>
  HttpServerResponse.stream(body, {
    status,
    headers,
    contentType: headers["content-type"],
    contentLength
  })

const firstHalf = ({ body }: HttpServerResponse.HttpServerResponse) => {
  const contentLength = Math.floor((body.contentLength ?? 0) / 2)
  const whole =
    body._tag === "Uint8Array" ? Stream.make(body.body) : body._tag === "Stream" ? body.stream : Stream.empty
  const stream = whole.pipe(
    Stream.mapAccum(contentLength, (left, bytes) => [
      left - Math.min(left, bytes.length),
      bytes.subarray(0, left)
    ]),
    Stream.takeWhile((bytes) => bytes.length > 0)
  )
  return { contentLength, stream }
}
