/**
 * How results and errors become HTTP responses. What every response of a server carries is added where it is sent.
 */
import type * as Headers from "@effect/platform/Headers"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { jsonText } from "../../internal/JsonText.ts"
import { serializeError } from "../../internal/SerializedError.ts"
import type { RequestError } from "./errors.ts"

type Response = HttpServerResponse.HttpServerResponse

const statuses: Readonly<Record<RequestError["_tag"], number>> = {
  "vitrine/BadRequest": 400,
  "vitrine/BodyUnreadable": 400,
  "vitrine/TokenRequired": 401,
  "vitrine/CommandNotAllowed": 403,
  "vitrine/HostNotAllowed": 403,
  "vitrine/OriginNotAllowed": 403,
  "vitrine/NotFound": 404,
  "vitrine/MethodNotAllowed": 405,
  "vitrine/PreconditionFailed": 412,
  "vitrine/BodyTooLarge": 413,
  "vitrine/JsonRequired": 415,
  "vitrine/RangeNotSatisfiable": 416,
  "vitrine/TooManyRequests": 429,
  "vitrine/CommandFailed": 500,
  "vitrine/CommandUnavailable": 500,
  "vitrine/InvalidCommandFields": 500,
  "vitrine/UnknownCommand": 500,
  "vitrine/FileUnreadable": 500,
  "vitrine/NoRoom": 503,
  "vitrine/TooManyClients": 503,
  "vitrine/TooManyConnections": 503
}

/** What a client has to know beside the status. */
const headersOf = (error: RequestError): Headers.Input => {
  switch (error._tag) {
    case "vitrine/TokenRequired":
      return { "WWW-Authenticate": "Bearer" }
    case "vitrine/MethodNotAllowed":
      return { Allow: "GET, HEAD, OPTIONS" }
    case "vitrine/RangeNotSatisfiable":
      return { "Content-Range": `bytes */${error.size}` }
    case "vitrine/TooManyConnections":
      return { Connection: "close", "Retry-After": "1" }
    case "vitrine/TooManyRequests":
      return { "Retry-After": String(error.retryAfter) }
    default:
      return {}
  }
}

/** A command says all about its failure; of anything else, the message is enough. */
const described = (error: RequestError): unknown => {
  switch (error._tag) {
    case "vitrine/CommandFailed":
      return serializeError(error.cause)
    case "vitrine/CommandUnavailable":
    case "vitrine/InvalidCommandFields":
    case "vitrine/UnknownCommand":
      return serializeError(error)
    default:
      return { message: error.message }
  }
}

export const bodyOf = (error: RequestError): unknown => ({ error: described(error) })

export const error = (error: RequestError, body = bodyOf(error)): Response =>
  HttpServerResponse.setHeaders(json(body, statuses[error._tag]), headersOf(error))

/** Responds to an unexpected failure, and logs it. */
export const unexpected = (cause: Cause.Cause<unknown>): Effect.Effect<Response> =>
  Cause.isInterruptedOnly(cause)
    ? Effect.interrupt
    : Effect.as(
        Effect.logError("A request failed unexpectedly", cause),
        json({ error: serializeError(Cause.squash(cause)) }, 500)
      )

/** An object would drop the key of a value that JSON lacks, such as a function. */
export const result = (value: unknown): Response => text(`{"result":${jsonText(value)}}`, jsonType)

export const json = (value: unknown, status = 200): Response => text(jsonText(value), jsonType, status)

const jsonType = "application/json"

export const text = (body: string, contentType: string, status = 200): Response =>
  HttpServerResponse.uint8Array(Buffer.from(body), { status, contentType })

/** The answer to a page that asks whether it may send a request. */
export const preflight = (methods: string, headers: string): Response =>
  HttpServerResponse.empty({
    status: 204,
    headers: {
      "access-control-allow-methods": methods,
      "access-control-allow-headers": headers,
      "access-control-max-age": "86400"
    }
  })
