/**
 * What a request gets that has a fault.
 *
 * It goes past `@effect/platform` to the response and its socket. It would not need that if the platform let a handler send
 * a part of a response, and close or reset the connection.
 */
import type { ServerResponse } from "node:http"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { written } from "../../../../src/layers/http/RequestHandler.ts"
import { type ApiError, errorOfStatus, quotaSpent } from "../ApiError.ts"
import type { Faults, Place, ResponseFault } from "../Faults.ts"

type Response = HttpServerResponse.HttpServerResponse

/** Gives the answer, or what a fault makes of it. `whole` is the answer with its body in memory. */
export const orFault = <E, R>(
  faults: Faults,
  place: Place,
  answer: Effect.Effect<Response, E, R>,
  whole = answer
): Effect.Effect<Response, E | ApiError, R | HttpServerRequest.HttpServerRequest> =>
  Effect.flatMap(
    faults.take(place),
    Option.match({ onNone: () => answer, onSome: (fault) => perform(fault, answer, whole) })
  )

/** Longer than a person waits, shorter than most clients. */
const slowMs = 10_000

const perform = <E, R>(
  { retryAfter, what }: ResponseFault,
  answer: Effect.Effect<Response, E, R>,
  whole: Effect.Effect<Response, E, R>
): Effect.Effect<Response, E | ApiError, R | HttpServerRequest.HttpServerRequest> => {
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
      return Effect.map(whole, (answer) =>
        HttpServerResponse.setBody(answer, HttpBody.uint8Array(firstHalf(answer), answer.body.contentType))
      )
    case "cut":
      return Effect.flatMap(whole, (answer) =>
        instead((response) => {
          writeHalf(response, answer)
          response.socket?.destroySoon()
        })
      )
    case "reset":
      return instead((response) => response.socket?.resetAndDestroy())
    case "slow":
      return Effect.delay(answer, slowMs)
    case "stall":
      return instead(() => {})
    case "stall-body":
      return Effect.flatMap(whole, (answer) => instead((response) => writeHalf(response, answer)))
    default:
      return errorOfStatus(what, retryAfter)
  }
}

/** Does that to a response, and leaves it alone. */
const instead = (act: (response: ServerResponse) => void) =>
  Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
    const response = NodeHttpServerRequest.toServerResponse(request)
    act(response)
    return written
  })

const writeHalf = (response: ServerResponse, answer: Response) => {
  response.writeHead(answer.status, { ...answer.headers, "content-length": answer.body.contentLength })
  response.write(firstHalf(answer))
}

const firstHalf = ({ body }: Response) =>
  body._tag === "Uint8Array" ? body.body.subarray(0, Math.floor(body.body.length / 2)) : new Uint8Array()
