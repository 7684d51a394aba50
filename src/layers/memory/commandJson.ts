/**
 * A command from JSON, for transports and buses: first its type, then the fields that its handler expects.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import {
  type Command,
  type CommandHandler,
  InvalidCommandFields,
  MalformedCommand
} from "../../services/CommandBus.ts"

/**
 * Parses a command from JSON in UTF-8: any object with a string `type`, registered or not.
 *
 * @since 0.1.0
 * @category decoding
 */
export const parseCommand = (bytes: Uint8Array): Effect.Effect<Command, MalformedCommand> =>
  Effect.try({
    try: (): unknown => JSON.parse(utf8.decode(bytes)),
    catch: () => new MalformedCommand({ message: "The body is not valid JSON." })
  }).pipe(
    Effect.filterOrFail(
      isCommand,
      () => new MalformedCommand({ message: 'The body must be a JSON object with a string "type".' })
    )
  )

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const isCommand = (value: unknown): value is Command =>
  Predicate.isReadonlyRecord(value) && typeof value.type === "string"

/**
 * Decodes the fields of a command for its handler. The error names every wrong field.
 *
 * @since 0.1.0
 * @category decoding
 */
export const decodeCommandFields = <Fields, Encoded, R>({
  fields,
  type
}: CommandHandler<Fields, Encoded, R>): ((
  command: Command
) => Effect.Effect<Fields, InvalidCommandFields>) => {
  const decode = Schema.decodeUnknown(fields, { errors: "all" })
  return (command) => Effect.mapError(decode(command), InvalidCommandFields.of(type))
}
