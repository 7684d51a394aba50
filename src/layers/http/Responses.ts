/**
 * Turns results and errors into HTTP responses. `guarded` adds the default headers of a server.
 */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { jsonText } from "../../internal/jsonText.ts"
import { serializeError } from "../../internal/SerializedError.ts"
import type { RequestError } from "./errors.ts"

type Response = HttpServerResponse.HttpServerResponse

/** The whole failure of a command; only the message of other errors. */
const described = (error: RequestError): unknown => {
  if (error._tag === "vitrine/CommandFailed") {
    return { ...serializeError(error.cause), failure: error.failure }
  }
  return "status" in error ? { message: error.message } : serializeError(error)
}

export const error = (error: RequestError): Response => {
  const body = { error: described(error) }
  if ("status" in error) {
    return HttpServerResponse.setHeaders(json(body, error.status), error.headers ?? {})
  }
  return error._tag === "vitrine/CommandUnavailable" && error.reason === "busy"
    ? HttpServerResponse.setHeader(json(body, 503), "retry-after", "10")
    : json(body, 500)
}

/**
 * Responds to an unexpected failure, and logs it. An interrupted handler has interrupted itself: if another fiber
 * interrupts it, it does not get here.
 */
export const unexpected = (cause: Cause.Cause<unknown>): Effect.Effect<Response> =>
  Cause.isInterruptedOnly(cause)
    ? Effect.as(
        Effect.logInfo("A request was interrupted by its own work, as at the end of the controller", cause),
        json({ error: { message: interrupted } }, 503)
      )
    : Effect.as(
        Effect.logError("A request failed unexpectedly", cause),
        json({ error: serializeError(Cause.squash(cause)) }, 500)
      )

const interrupted =
  "The request was interrupted. It may have been carried out in part: check before you send it again."

/** Builds the text itself: an object would drop `result` if its value is a function, for example. */
export const result = (value: unknown): Response => text(`{"result":${jsonText(value)}}`, jsonType)

export const json = (value: unknown, status = 200): Response => text(jsonText(value), jsonType, status)

const jsonType = "application/json"

export const text = (body: string, contentType: string, status = 200): Response =>
  HttpServerResponse.uint8Array(Buffer.from(body), { status, contentType })

/** The answer to the CORS preflight of a page. */
export const preflight = (methods: string, headers: string): Response =>
  HttpServerResponse.empty({
    status: 204,
    headers: {
      "access-control-allow-methods": methods,
      "access-control-allow-headers": headers,
      "access-control-max-age": "86400"
    }
  })
