/**
 * Errors as data, as schemas. Apart from `serializeError.ts`, which stays small without schemas.
 */
import * as Schema from "effect/Schema"
import { optional } from "./schemas.ts"
import { describe, type SerializedError as Type } from "./serializeError.ts"

export { causeWithoutSecrets, messageOf, serializeError } from "./serializeError.ts"

/**
 * An error as JSON: its name, its message, and its cause.
 *
 * @since 0.1.0
 * @category models
 */
export type SerializedError = Type

/**
 * The same as a schema.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SerializedError: Schema.Schema<SerializedError> = Schema.Struct({
  name: Schema.String,
  message: Schema.String,
  cause: optional(Schema.suspend(() => SerializedError))
})

/**
 * The schema of an error of any kind, with the chain of its causes: for the `cause` of an error that crosses a wire.
 *
 * It encodes any thrown value or failure, cut as by `serializeError`, and decodes to an `Error` with `name`,
 * `message` and `cause`. The decoded error has no stack, because the stack of the decoder would mislead.
 *
 * Unlike `serializeError` it keeps names and absolute paths complete, for a wire between the processes of one
 * controller, whose logs need them. Code that passes an error on to others serializes it there; a decoded error gives
 * the same result as the original.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ErrorChain: Schema.Schema<unknown, SerializedError> = Schema.transform(
  SerializedError,
  Schema.Unknown,
  { strict: true, decode: (described) => asError(described), encode: (error) => describe(error) }
).annotations({ identifier: "ErrorChain" })

/** A field that may be missing. `undefined` is no error either. */
export const OptionalErrorChain = optional(ErrorChain)

const asError = ({ cause, message, name }: SerializedError): Error => {
  const error = new Error(message, cause === undefined ? {} : { cause: asError(cause) })
  error.name = name
  error.stack = `${name}: ${message}`
  return error
}
