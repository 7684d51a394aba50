/**
 * Commands and their results as messages.
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { encodeJson } from "../../internal/JsonText.ts"
import { DispatchError } from "../../services/CommandBus.ts"

/** To an instance. The `id` of a dispatch is where its result is wanted. */
const Request = Schema.parseJson(
  Schema.Union(
    Schema.Struct({
      do: Schema.Literal("dispatch"),
      command: Schema.Struct({ type: Schema.String }, { key: Schema.String, value: Schema.Unknown })
    }),
    Schema.Struct({ do: Schema.Literal("cancel"), id: Schema.String }),
    /** Whether the instance carries that dispatch out. */
    Schema.Struct({ do: Schema.Literal("isRunning"), id: Schema.String }),
    /** Whether the instance has registered that command. */
    Schema.Struct({ do: Schema.Literal("isHeld"), type: Schema.String })
  )
)
export type Request = typeof Request.Type

/** To a question. */
const Reply = Schema.parseJson(Schema.Boolean)

const Result = Schema.parseJson(
  Schema.Union(Schema.Struct({ error: DispatchError }), Schema.Struct({ value: Schema.Unknown }))
)

const decoder = <A, I>(schema: Schema.Schema<A, I>) => {
  const decode = Schema.decodeUnknownOption(schema)
  return (data: Uint8Array) => decode(new TextDecoder().decode(data))
}

const encodeText = (value: unknown): Uint8Array => new TextEncoder().encode(encodeJson(value).text)

const encodeError = Schema.encodeSync(DispatchError)

export const encodeRequest = (request: Request): Uint8Array => encodeText(request)

export const decodeRequest = decoder(Request)

export const encodeReply = (reply: boolean): Uint8Array => encodeText(reply)

export const decodeReply = decoder(Reply)

export const encodeResult = (result: Either.Either<unknown, DispatchError>): Uint8Array =>
  encodeText(
    Either.match(result, {
      onLeft: (error) => ({ error: encodeError(error) }),
      onRight: (value) => ({ value: value ?? null })
    })
  )

export const decodeResult = decoder(Result)
