/**
 * The edge: how results and errors become HTTP answers (specification, sections 2.3 to 2.5, 4.4 and 7). What every
 * answer carries is added where it is sent.
 */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Schema from "effect/Schema"
import { jsonText } from "../../internal/JsonText.ts"
import { serializeError } from "../../internal/SerializedError.ts"
import type { DispatchError } from "../../services/CommandBus.ts"
import type { GlobalState, StatusSnapshot } from "../../services/ControllerState.ts"
import type { Refusal } from "./Access.ts"
import type { TooManyClients } from "./Clients.ts"
import type { BodyTooLarge, BodyUnreadable } from "./RequestBody.ts"

export class NoSuchRoute extends Schema.TaggedError<NoSuchRoute>()("vitrine/NoSuchRoute", {
  method: Schema.String,
  path: Schema.String
}) {
  override get message() {
    return `Not found: ${this.method} ${this.path}`
  }
}

export class BadRequest extends Schema.TaggedError<BadRequest>()("vitrine/BadRequest", {
  detail: Schema.String
}) {
  override get message() {
    return this.detail
  }
}

export class CommandNotAllowed extends Schema.TaggedError<CommandNotAllowed>()("vitrine/CommandNotAllowed", {
  type: Schema.String
}) {
  override get message() {
    return `Command not allowed: ${JSON.stringify(this.type)} is not among the "allowedCommands" of the HTTP transport.`
  }
}

export type AnswerableError =
  | NoSuchRoute
  | BadRequest
  | BodyUnreadable
  | BodyTooLarge
  | CommandNotAllowed
  | TooManyClients
  | DispatchError
  | Refusal

export const eventStreamHeaders = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store",
  "X-Accel-Buffering": "no"
}

export const snapshot = (value: StatusSnapshot | GlobalState) => jsonBody(jsonText(value), 200)

export const preflight = (allowedHeaders: string) =>
  HttpServerResponse.empty({
    status: 204,
    headers: {
      "access-control-allow-methods": "GET, POST, OPTIONS",
      "access-control-allow-headers": allowedHeaders,
      "access-control-max-age": "86400"
    }
  })

/** Of what JSON lacks, a function for example, an object would drop the key. */
export const result = (value: unknown) => jsonBody(`{"result":${jsonText(value)}}`, 200)

export const error = (error: AnswerableError): HttpServerResponse.HttpServerResponse => {
  switch (error._tag) {
    case "vitrine/BadRequest":
    case "vitrine/BodyUnreadable":
      return plainError(400, error)
    case "vitrine/TokenRequired":
      return HttpServerResponse.setHeader(plainError(401, error), "www-authenticate", "Bearer")
    case "vitrine/CommandNotAllowed":
    case "vitrine/HostNotAllowed":
    case "vitrine/OriginNotAllowed":
      return plainError(403, error)
    case "vitrine/NoSuchRoute":
      return plainError(404, error)
    case "vitrine/BodyTooLarge":
      return plainError(413, error)
    case "vitrine/JsonRequired":
      return plainError(415, error)
    case "vitrine/TooManyClients":
      return plainError(503, error)
    case "vitrine/CommandFailed":
      return commandError(error.cause)
    case "vitrine/CommandUnavailable":
    case "vitrine/InvalidCommandFields":
    case "vitrine/UnknownCommand":
      return commandError(error)
  }
}

/** For what nobody expected. */
export const commandError = (error: unknown) => jsonBody(jsonText({ error: serializeError(error) }), 500)

const jsonBody = (body: string, status: number) =>
  HttpServerResponse.uint8Array(Buffer.from(body), {
    status,
    contentType: "application/json"
  })

const plainError = (status: number, { message }: Error) =>
  jsonBody(JSON.stringify({ error: { message } }), status)
