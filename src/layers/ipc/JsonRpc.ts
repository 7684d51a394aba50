/**
 * The messages of JSON-RPC 2.0, each one line of JSON.
 *
 * It owns their form. What the methods are, and what they do, belongs to the server and the client.
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { jsonText } from "../../internal/JsonText.ts"

export const errorCode = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** `data` is the description of the error. */
  commandFailed: -32000,
  tooManyConnections: -32001
} as const

const errorFields = {
  code: Schema.Int,
  message: Schema.String,
  data: Schema.optionalWith(Schema.Unknown, { exact: true })
}

export class RpcError extends Schema.TaggedError<RpcError>()("vitrine/RpcError", errorFields) {}

const Id = Schema.Union(Schema.String, Schema.Number, Schema.Null)
export type Id = typeof Id.Type

const version = { jsonrpc: Schema.Literal("2.0") }

const Request = Schema.Struct({
  ...version,
  /** What has none is a notification: it is never answered. */
  id: Schema.optionalWith(Id, { exact: true }),
  method: Schema.String,
  params: Schema.optionalWith(Schema.Unknown, { exact: true })
})
export type Request = typeof Request.Type

/** A request that cannot be carried out, and to whom that is to be said. */
export interface BadRequest {
  readonly id: Id
  readonly error: RpcError
}

const decodeRequest = Schema.decodeUnknownEither(Request)
const isId = Schema.is(Id)

export const parseRequest = (line: Uint8Array): Either.Either<Request, BadRequest> => {
  const json = parseJson(line)
  if (Either.isLeft(json)) {
    return bad(null, errorCode.parseError, "The line is not valid JSON.")
  }
  if (Array.isArray(json.right)) {
    return bad(
      null,
      errorCode.invalidRequest,
      "Batches are not supported. Send each request on a line of its own."
    )
  }
  return Either.mapLeft(decodeRequest(json.right), () => {
    const id = Predicate.hasProperty(json.right, "id") && isId(json.right.id) ? json.right.id : null
    const message =
      'A request must be an object with "jsonrpc": "2.0", a string "method" and, to be answered, an "id".'
    return { id, error: new RpcError({ code: errorCode.invalidRequest, message }) }
  })
}

const bad = (id: Id, code: number, message: string) =>
  Either.left({ id, error: new RpcError({ code, message }) })

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const parseJson = (line: Uint8Array): Either.Either<unknown, unknown> =>
  Either.try((): unknown => JSON.parse(utf8.decode(line)))

export const request = (id: number, method: string, params?: unknown): string =>
  `${jsonText({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) })}\n`

/** Of what JSON lacks, a function for example, an object would drop the key. */
export const result = (id: Id, value: unknown): string =>
  `{"jsonrpc":"2.0","id":${jsonText(id)},"result":${jsonText(value)}}\n`

export const error = (id: Id, { code, data, message }: RpcError): string =>
  `${jsonText({ jsonrpc: "2.0", id, error: { code, message, ...(data === undefined ? {} : { data }) } })}\n`

/** An event as a notification. */
export const event = (name: string, payload: unknown): string =>
  `{"jsonrpc":"2.0","method":"event","params":{"name":${jsonText(name)},"payload":${jsonText(payload)}}}\n`

/** What a server sends. */
const ServerMessage = Schema.Union(
  Schema.Struct({ ...version, id: Id, result: Schema.Unknown }),
  Schema.Struct({ ...version, id: Id, error: Schema.Struct(errorFields) }),
  Schema.Struct({
    ...version,
    method: Schema.Literal("event"),
    params: Schema.Struct({ name: Schema.String, payload: Schema.Unknown })
  })
)
export type ServerMessage = typeof ServerMessage.Type

/** A result that is missing is none, though anything may be one. */
const decodeServerMessage = Schema.decodeUnknownSync(ServerMessage, { exact: true })

/** The decoder of a union throws where it cannot make text of what should tell its members apart. */
export const parseServerMessage = (line: Uint8Array): Either.Either<ServerMessage, unknown> =>
  Either.try(() => decodeServerMessage(JSON.parse(utf8.decode(line))))
