/**
 * The command bus, commands of a type on any bus, and the decoding of commands from bytes and fields.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import * as Option from "effect/Option"
import type * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { issueText, placedIssues } from "../../internal/Options.ts"
import {
  type Command,
  CommandBus,
  type CommandDefinition,
  CommandFailed,
  type CommandHandler,
  type DefinedCommand,
  InvalidCommandFields,
  MalformedCommand
} from "../../services/CommandBus.ts"

export * from "../../services/CommandBus.ts"

/**
 * Defines a command with its types. The bus carries the encoded fields, and the encoded result or failure.
 *
 * @since 0.1.0
 * @category constructors
 */
export const define = <
  Fields,
  EncodedFields extends Readonly<Record<string, unknown>>,
  Success,
  EncodedSuccess,
  Failure = never,
  EncodedFailure = never
>(
  definition: CommandDefinition<Fields, EncodedFields, Success, EncodedSuccess, Failure, EncodedFailure>
): DefinedCommand<Fields, EncodedFields, Success, EncodedSuccess, Failure, EncodedFailure> => {
  const { failure, fields, success, type } = definition
  const encodeFields = Schema.encode(fields, { errors: "all" })
  const encodeResult = Schema.encode(success)
  const decodeResult = Schema.decodeUnknown(success)
  const failureOf = failure && flow(Schema.encodeUnknownOption(failure), Option.getOrUndefined)
  const decodeFailure = failure && Schema.decodeUnknownOption(failure)
  const withFailure = (error: CommandFailed): CommandFailed | Failure =>
    error.failure === undefined
      ? error
      : Option.getOrElse(decodeFailure?.(error.failure) ?? Option.none(), () => error)
  return {
    ...definition,
    register: (run) =>
      Effect.flatMap(CommandBus, ({ register }) =>
        register({ type, fields, failureOf, run: (decoded) => Effect.flatMap(run(decoded), encodeResult) })
      ),
    dispatch: (given, options) =>
      Effect.gen(function* () {
        const { dispatch } = yield* CommandBus
        const encoded = yield* Effect.mapError(encodeFields(given), invalidFields(type))
        const result = yield* dispatch({ ...encoded, type }, options).pipe(
          Effect.catchTag("vitrine/CommandFailed", (error) => Effect.fail(withFailure(error)))
        )
        return yield* Effect.mapError(decodeResult(result), (cause) => new CommandFailed({ type, cause }))
      })
  }
}

/**
 * The error of a dispatch whose handler has failed or died.
 *
 * @since 0.1.0
 * @category errors
 */
export const failedBy = (
  { failureOf, type }: Pick<CommandHandler<never, never, never>, "failureOf" | "type">,
  cause: Cause.Cause<unknown>
): CommandFailed => {
  const failure = Option.getOrUndefined(Option.map(Cause.failureOption(cause), (error) => failureOf?.(error)))
  return new CommandFailed({ type, cause: Cause.squash(cause), failure })
}

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
  return (command) => Effect.mapError(decode(command), invalidFields(type))
}

const invalidFields = (type: string) => (error: ParseResult.ParseError) =>
  new InvalidCommandFields({ type, issues: issueText(placedIssues(error)) })
