/**
 * A controller in another process: what it says, what it can be asked to do, what happens in it, and its end.
 *
 * It owns the questions and their errors. Over which routes they are asked is in docs/wire.md, section 10.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import { SerializedError } from "../internal/SerializedError.ts"
import type { Command } from "./CommandBus.ts"
import type { BusEvent } from "./EventBus.ts"
import type { View } from "./View.ts"

/** An event as it was published in the controller; the payload has been through JSON. */
export type IpcEvent = Pick<BusEvent, "name" | "payload">

/** The process of a controller. */
export interface ControllerProcess {
  readonly pid: number
  /** The SHA-256 of the configuration file that it was started with, where it says so. */
  readonly configuration?: string
}

/** Another process's controller, over its own socket (docs/wire.md, section 10). */
export class IpcClient extends Context.Tag("vitrine/IpcClient")<
  IpcClient,
  {
    /** Who it is: to report, to watch, or to name what does not end when it is asked to. */
    readonly process: Effect.Effect<ControllerProcess, IpcError>

    /** What it says of itself. */
    readonly view: Effect.Effect<View, IpcError>

    /**
     * Has a command executed, any that is registered, and returns its result, which has been through JSON.
     *
     * It takes as long as the command does. A caller that gives up waiting does not stop the command.
     */
    readonly dispatch: (command: Command) => Effect.Effect<unknown, IpcError | CommandRefused>

    /**
     * A live feed of every event published from now on, in the order of publication.
     *
     * The subscription exists when this Effect returns, and it ends with the scope. The feed never ends by
     * itself: it fails when the controller ends, or gives up a reader that has fallen more than a mebibyte behind.
     */
    readonly events: Effect.Effect<Stream.Stream<IpcEvent, IpcError>, IpcError, Scope.Scope>

    /** Asks the controller to end as on SIGTERM, in the name of somebody. It has only begun to when this returns. */
    readonly stop: (by: string) => Effect.Effect<void, IpcError>
  }
>() {}

/** Why a controller could not be asked. */
export type IpcError =
  | ControllerNotRunning
  | ControllerUnreachable
  | ControllerUnresponsive
  | IpcConnectionLost
  | IpcProtocolError

/** No controller listens. */
export class ControllerNotRunning extends Schema.TaggedError<ControllerNotRunning>()(
  "vitrine/ControllerNotRunning",
  {
    /** The socket, or the named pipe. */
    path: Schema.String
  }
) {
  override get message() {
    return `No controller is running here: nothing listens at ${this.path}.`
  }
}

/** There is something, but this process may not or should not talk to it. */
export class ControllerUnreachable extends Schema.TaggedError<ControllerUnreachable>()(
  "vitrine/ControllerUnreachable",
  {
    path: Schema.String,
    /** What is wrong and, where it is known, what to do. */
    detail: Schema.String
  }
) {
  override get message() {
    return `The controller cannot be reached at ${this.path}: ${this.detail}`
  }
}

/** A process listens, but it is stopped, or too busy to answer. */
export class ControllerUnresponsive extends Schema.TaggedError<ControllerUnresponsive>()(
  "vitrine/ControllerUnresponsive",
  { path: Schema.String, seconds: Schema.Number }
) {
  override get message() {
    return `The controller at ${this.path} is running, but has not answered for ${this.seconds} seconds.`
  }
}

/** The controller closed the connection, or ended. */
export class IpcConnectionLost extends Schema.TaggedError<IpcConnectionLost>()("vitrine/IpcConnectionLost", {
  path: Schema.String
}) {
  override get message() {
    return `The connection to the controller at ${this.path} was lost. It has ended, or is about to.`
  }
}

/** The two do not understand each other: another version, say, or a request that is too large. */
export class IpcProtocolError extends Schema.TaggedError<IpcProtocolError>()("vitrine/IpcProtocolError", {
  path: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `The controller at ${this.path} cannot be reached: ${this.detail}`
  }
}

/** The command bus of the controller refused the command, or the command failed: the error that `POST /command` responds. */
export class CommandRefused extends Schema.TaggedError<CommandRefused>()("vitrine/CommandRefused", {
  description: SerializedError
}) {
  override get name() {
    return this.description.name
  }

  override get message() {
    return this.description.message
  }

  override get cause() {
    return this.description.cause
  }
}
