/**
 * The command bus: what the controller can be asked to do.
 *
 * It owns the registry of commands. The transport in front of it decides who may
 * dispatch which command.
 *
 * A bus may connect several processes. Fields and results then have JSON semantics: they arrive as `JSON.parse` of
 * their `JSON.stringify`.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { ErrorChain, messageOf } from "../internal/SerializedError.ts"

/**
 * A request to do something: the `type` names the command, the rest are its fields.
 *
 * @since 0.1.0
 * @category models
 */
export interface Command {
  readonly type: string
  readonly [field: string]: unknown
}

/**
 * How a command is executed, and what its fields must look like.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommandHandler<Fields, Encoded, R> {
  readonly type: string
  /** Fields beyond these are ignored, so that clients may be newer than the controller. */
  readonly fields: Schema.Schema<Fields, Encoded>
  readonly run: (fields: Fields) => Effect.Effect<unknown, unknown, R>
  /** The `failure` of the `CommandFailed` for an error of `run`: JSON, or `undefined` if callers cannot decode the error. */
  readonly failureOf?: ((error: unknown) => unknown) | undefined
}

/**
 * How a command is dispatched.
 *
 * @since 0.1.0
 * @category models
 */
export interface DispatchOptions {
  /**
   * How long to wait for the result. After this time the dispatch fails with `CommandUnavailable`, and the handler is
   * interrupted if the bus can do so. Default: no limit.
   */
  readonly timeout?: Duration.DurationInput | undefined
}

/**
 * Commands by their types. Plugins register them, and any code dispatches them.
 *
 * @since 0.1.0
 * @category tags
 */
export class CommandBus extends Context.Tag("vitrine/CommandBus")<
  CommandBus,
  {
    /**
     * Makes a command available until the scope ends.
     *
     * A registration is a lease of the process that made it. When the process dies, by `kill -9` or with its machine,
     * the lease ends within a time that the bus documents, and the command can be registered again.
     */
    readonly register: <Fields, Encoded, R>(
      handler: CommandHandler<Fields, Encoded, R>
    ) => Effect.Effect<void, CommandAlreadyRegistered, R | Scope.Scope>

    /**
     * Executes a command and returns the result of its handler.
     *
     * Fails with `UnknownCommand` if the command is not registered, and with `CommandUnavailable` if its process is
     * away, returns no result within the timeout, or is lost.
     */
    readonly dispatch: (command: Command, options?: DispatchOptions) => Effect.Effect<unknown, DispatchError>

    /** The types of the commands registered now, sorted. */
    readonly types: Effect.Effect<ReadonlyArray<string>>
  }
>() {}

/**
 * The definition of a command: its type, its fields, and the result of its handler.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommandDefinition<
  Fields,
  EncodedFields,
  Success,
  EncodedSuccess,
  Failure = never,
  EncodedFailure = never
> {
  readonly type: string
  readonly fields: Schema.Schema<Fields, EncodedFields>
  /** `Schema.Null` for a command that has no result. */
  readonly success: Schema.Schema<Success, EncodedSuccess>
  /**
   * The errors of its handler that callers get as they are, from another process too, such as a `Schema.TaggedError`.
   * Other errors are the `cause` of a `CommandFailed`. Default none.
   */
  readonly failure?: Schema.Schema<Failure, EncodedFailure> | undefined
}

/**
 * A command with types, for the code that executes it and the code that dispatches it.
 *
 * @since 0.1.0
 * @category models
 */
export interface DefinedCommand<
  Fields,
  EncodedFields,
  Success,
  EncodedSuccess,
  Failure = never,
  EncodedFailure = never
> extends CommandDefinition<Fields, EncodedFields, Success, EncodedSuccess, Failure, EncodedFailure> {
  /** As `register` of the bus. A result that `success` cannot encode fails the command with `CommandFailed`. */
  readonly register: <E, R>(
    run: (fields: Fields) => Effect.Effect<Success, E, R>
  ) => Effect.Effect<void, CommandAlreadyRegistered, CommandBus | R | Scope.Scope>

  /**
   * As `dispatch` of the bus. Fails with the error of the handler if `failure` describes it, with `InvalidCommandFields` if
   * `fields` cannot encode the given fields, and with `CommandFailed` if `success` cannot decode the result, for example from
   * another version of the handler.
   */
  readonly dispatch: (
    fields: Fields,
    options?: DispatchOptions
  ) => Effect.Effect<Success, DispatchError | Failure, CommandBus>
}

/**
 * The request of a client is no command.
 *
 * @since 0.1.0
 * @category errors
 */
export class MalformedCommand extends Schema.TaggedError<MalformedCommand>()("vitrine/MalformedCommand", {
  message: Schema.String
}) {}

/**
 * A command of this type is registered already, by this process or another. The first registration stays.
 *
 * @since 0.1.0
 * @category errors
 */
export class CommandAlreadyRegistered extends Schema.TaggedError<CommandAlreadyRegistered>()(
  "vitrine/CommandAlreadyRegistered",
  { type: Schema.String }
) {
  override get message() {
    return `The command "${this.type}" is already registered. Two plugins cannot offer the same command.`
  }
}

/**
 * The command is not registered. `CommandUnavailable` is the error for a registered command whose process is away.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnknownCommand extends Schema.TaggedError<UnknownCommand>()("vitrine/UnknownCommand", {
  type: Schema.String,
  known: Schema.Array(Schema.String)
}) {
  override get message() {
    const known =
      this.known.length === 0 ? "No command is registered." : `Known are: ${this.known.join(", ")}.`
    return `There is no command "${this.type}". ${known}`
  }
}

/**
 * The fields of a command do not decode; `issues` names every wrong one. The handler was not run.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidCommandFields extends Schema.TaggedError<InvalidCommandFields>()(
  "vitrine/InvalidCommandFields",
  {
    type: Schema.String,
    issues: Schema.String
  }
) {
  override get message() {
    return `The command "${this.type}" was given wrong fields: ${this.issues}`
  }
}

/**
 * The handler failed or died; `cause` is its error.
 *
 * @since 0.1.0
 * @category errors
 */
export class CommandFailed extends Schema.TaggedError<CommandFailed>()("vitrine/CommandFailed", {
  type: Schema.String,
  cause: ErrorChain,
  /** The error as JSON, if the definition of the command has a schema of it. */
  failure: Schema.optional(Schema.Unknown)
}) {
  override get message() {
    return `The command "${this.type}" failed: ${messageOf(this.cause)}`
  }
}

/**
 * The command is registered, but its result is not available:
 *
 * - `unreachable`: the process that has registered it is away.
 * - `busy`: the process runs as many commands as it may.
 * - `timeout`: there was no result within the timeout of the dispatch.
 * - `lost`: the connection to the process that executes it, or the process, ended.
 *
 * @since 0.1.0
 * @category errors
 */
export class CommandUnavailable extends Schema.TaggedError<CommandUnavailable>()(
  "vitrine/CommandUnavailable",
  {
    type: Schema.String,
    reason: Schema.Literal("unreachable", "busy", "timeout", "lost"),
    /** Whether the handler may have run, wholly or in part. If it is `false`, dispatching again is safe. */
    mayHaveRun: Schema.Boolean
  }
) {
  override get message() {
    const advice = this.mayHaveRun
      ? "It may have run, or still be running: check before you send it again."
      : "It has not run: send it again later."
    return `The command "${this.type}" is unavailable: ${unavailability[this.reason]}. ${advice}`
  }
}

const unavailability: Readonly<Record<CommandUnavailable["reason"], string>> = {
  unreachable: "the process that has registered it cannot be reached",
  busy: "too many commands are running already",
  timeout: "it returned no result within the timeout",
  lost: "the connection to the process that was running it was lost"
}

/**
 * Also a schema: a bus between processes encodes errors with it.
 *
 * @since 0.1.0
 * @category schemas
 */
export const DispatchError = Schema.Union(
  UnknownCommand,
  InvalidCommandFields,
  CommandFailed,
  CommandUnavailable
)
export type DispatchError = typeof DispatchError.Type
