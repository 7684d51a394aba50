/**
 * The command bus: what the controller can be asked to do.
 *
 * It owns the registry of commands and the decoding of their fields. Who may dispatch what is decided by the
 * transport in front of it.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { messageOf } from "../internal/SerializedError.ts"

/** A request to do something: the `type` names the command, the rest are its fields. */
export interface Command {
  readonly type: string
  readonly [field: string]: unknown
}

/** How a command is carried out, and what its fields must look like. */
export interface CommandHandler<Fields, Encoded, R> {
  readonly type: string
  /** Fields beyond these are ignored, so that clients may be newer than the controller. */
  readonly fields: Schema.Schema<Fields, Encoded>
  readonly run: (fields: Fields) => Effect.Effect<unknown, unknown, R>
}

export type DispatchError = UnknownCommand | InvalidCommandFields | CommandFailed

export class CommandBus extends Context.Tag("vitrine/CommandBus")<
  CommandBus,
  {
    /** Makes a command available until the scope ends. */
    readonly register: <Fields, Encoded, R>(
      handler: CommandHandler<Fields, Encoded, R>
    ) => Effect.Effect<void, CommandAlreadyRegistered, R | Scope.Scope>

    /** Carries a command out and returns what its handler returned. */
    readonly dispatch: (command: Command) => Effect.Effect<unknown, DispatchError>

    /** The types of the commands registered now, sorted. */
    readonly types: Effect.Effect<ReadonlyArray<string>>
  }
>() {}

export class CommandAlreadyRegistered extends Schema.TaggedError<CommandAlreadyRegistered>()(
  "vitrine/CommandAlreadyRegistered",
  { type: Schema.String }
) {
  override get message() {
    return `The command "${this.type}" is already registered. Two plugins cannot offer the same command.`
  }
}

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

/** The handler failed or died; `cause` is what it failed with. */
export class CommandFailed extends Schema.TaggedError<CommandFailed>()("vitrine/CommandFailed", {
  type: Schema.String,
  cause: Schema.Defect
}) {
  override get message() {
    return `The command "${this.type}" failed: ${messageOf(this.cause)}`
  }
}
