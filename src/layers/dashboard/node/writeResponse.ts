/**
 * The edge: how resources, results and errors become HTTP responses.
 */
import type { OutgoingHttpHeaders, ServerResponse } from "node:http"
import * as Effect from "effect/Effect"
import { jsonText } from "../../../internal/JsonText.ts"
import { serializeError } from "../../../internal/SerializedError.ts"
import type { DispatchError } from "../../../services/CommandBus.ts"
import { readInTime } from "../../http/stallTimeout.ts"
import type { TooManyClients } from "../../httpTransport/Clients.ts"
import type { BodyTooLarge, BodyUnreadable } from "../../httpTransport/RequestBody.ts"
import type { Refusal } from "../access.ts"
import type { ActionNotAllowed, BadRequest, NotFound, TooManyConnections } from "../errors.ts"
import type { Resource } from "../resources.ts"

export type RequestError =
  | ActionNotAllowed
  | BadRequest
  | BodyTooLarge
  | BodyUnreadable
  | DispatchError
  | NotFound
  | Refusal
  | TooManyClients
  | TooManyConnections

/** What every response has: no other page may frame it, read it or have scripts in it. */
export const everyResponse = {
  "Cache-Control": "no-store",
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff"
}

export const writeResource = (response: ServerResponse, { body, contentType, status }: Resource) =>
  write(response, status, body, { "Content-Type": contentType })

export const writeResult = (response: ServerResponse, result: unknown) =>
  write(response, 200, `{"result":${jsonText(result)}}`)

export const writeError = (response: ServerResponse, error: RequestError) => {
  const { body = bodyOf(error), headers, status } = answerTo(error)
  return write(response, status, jsonText(body), headers)
}

/** For what nobody expected. */
export const writeUnexpected = (response: ServerResponse, error: unknown) =>
  write(response, 500, jsonText({ error: serializeError(error) }))

export const bodyOf = ({ message }: { readonly message: string }) => ({ error: { message } })

const write = (
  response: ServerResponse,
  status: number,
  body: string,
  headers: OutgoingHttpHeaders = {}
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const bytes = Buffer.from(body)
    response.writeHead(status, {
      ...everyResponse,
      "Content-Type": "application/json",
      "Content-Length": bytes.length,
      ...headers
    })
    response.end(response.req.method === "HEAD" ? undefined : bytes)
    return readInTime(response)
  })

interface ErrorResponse {
  readonly status: number
  readonly headers?: OutgoingHttpHeaders
  readonly body?: unknown
}

const answerTo = (error: RequestError): ErrorResponse => {
  switch (error._tag) {
    case "vitrine/BadDashboardRequest":
    case "vitrine/BodyUnreadable":
      return { status: 400 }
    case "vitrine/DashboardTokenRequired":
      return { status: 401, headers: { "WWW-Authenticate": "Bearer" } }
    case "vitrine/ActionNotAllowed":
    case "vitrine/ActionsAreOff":
    case "vitrine/DashboardOriginNotAllowed":
    case "vitrine/HostNotAllowed":
      return { status: 403 }
    case "vitrine/DashboardNotFound":
      return { status: 404 }
    case "vitrine/BodyTooLarge":
      return { status: 413 }
    case "vitrine/DashboardJsonRequired":
      return { status: 415 }
    case "vitrine/TooManyClients":
      return { status: 503 }
    case "vitrine/TooManyDashboardConnections":
      return { status: 503, headers: { Connection: "close", "Retry-After": "1" } }
    case "vitrine/CommandFailed":
      return { status: 500, body: { error: serializeError(error.cause) } }
    case "vitrine/CommandUnavailable":
    case "vitrine/InvalidCommandFields":
    case "vitrine/UnknownCommand":
      return { status: 500, body: { error: serializeError(error) } }
  }
}
