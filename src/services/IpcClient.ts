/**
 * A controller in another process: its view, its commands, its events, and its end.
 *
 * It owns the requests and their errors. docs/wire.md, section 10, has the routes.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import { SerializedError } from "../internal/SerializedError.ts"
import { optional } from "../internal/schemas.ts"
import type { Command } from "./CommandBus.ts"
import type { BusEvent } from "./EventBus.ts"
import type { ScreenPicture } from "./ScreenPictures.ts"
import type { View } from "./View.ts"

/**
 * An event as the controller published it; the payload has been through JSON.
 *
 * @since 0.1.0
 * @category models
 */
export type IpcEvent = Pick<BusEvent, "name" | "payload">

/**
 * The process of a controller.
 *
 * @since 0.1.0
 * @category models
 */
export interface ControllerProcess {
  readonly pid: number
  /** The SHA-256 of the configuration file that it was started with, if the controller reports it. */
  readonly configuration?: string | undefined
}

/**
 * Another process's controller, over its own socket (docs/wire.md, section 10).
 *
 * @since 0.1.0
 * @category tags
 */
export class IpcClient extends Context.Tag("vitrine/IpcClient")<
  IpcClient,
  {
    /** The process of the controller, for reports, for watching it, or to say which process does not end when asked. */
    readonly process: Effect.Effect<ControllerProcess, IpcError>

    /** The view of the controller. */
    readonly view: Effect.Effect<View, IpcError>

    /**
     * Executes any registered command in the controller and returns its result, which has been through JSON.
     *
     * It takes as long as the command takes. A caller that stops waiting does not stop the command.
     */
    readonly dispatch: (command: Command) => Effect.Effect<unknown, IpcError | CommandRefused>

    /** A picture of a screen, taken now: waits 90 seconds at most. Its refusal says why there is none. */
    readonly picture: (screen: string) => Effect.Effect<ScreenPicture, IpcError | CommandRefused>

    /**
     * A live feed of every event published from now on, in the order of publication.
     *
     * The subscription exists when this Effect returns, and it ends with the scope. The feed never ends by itself: it
     * fails when the controller ends, or when the controller disconnects a reader that is more than 1 MiB behind.
     */
    readonly events: Effect.Effect<Stream.Stream<IpcEvent, IpcError>, IpcError, Scope.Scope>

    /** Asks the controller to end as on SIGTERM; `by` says who asks. The end has only begun when this returns. */
    readonly stop: (by: string) => Effect.Effect<void, IpcError>
  }
>() {}

/**
 * Why a request to a controller failed.
 *
 * @since 0.1.0
 * @category models
 */
export type IpcError =
  | ControllerNotRunning
  | ControllerUnreachable
  | ControllerUnresponsive
  | IpcConnectionLost
  | IpcProtocolError

/**
 * No controller listens.
 *
 * @since 0.1.0
 * @category errors
 */
export class ControllerNotRunning extends Schema.TaggedError<ControllerNotRunning>()(
  "vitrine/ControllerNotRunning",
  {
    /** The socket, or the named pipe. */
    path: Schema.String
  }
) {
  override get message() {
    return `No controller is running here: nothing listens at ${this.path}. "vitrine start" starts one.`
  }
}

/**
 * The socket exists, but this process may not or should not use it.
 *
 * @since 0.1.0
 * @category errors
 */
export class ControllerUnreachable extends Schema.TaggedError<ControllerUnreachable>()(
  "vitrine/ControllerUnreachable",
  {
    path: Schema.String,
    /** What is wrong and, if it is known, what to do. */
    detail: Schema.String
  }
) {
  override get message() {
    return `The controller cannot be reached at ${this.path}: ${this.detail}`
  }
}

/**
 * A process listens, but it is stopped, or too busy to answer.
 *
 * @since 0.1.0
 * @category errors
 */
export class ControllerUnresponsive extends Schema.TaggedError<ControllerUnresponsive>()(
  "vitrine/ControllerUnresponsive",
  { path: Schema.String, seconds: Schema.Number }
) {
  override get message() {
    return `The controller at ${this.path} is running, but has not answered for ${this.seconds} seconds.`
  }
}

/**
 * The controller closed the connection, or ended.
 *
 * @since 0.1.0
 * @category errors
 */
export class IpcConnectionLost extends Schema.TaggedError<IpcConnectionLost>()("vitrine/IpcConnectionLost", {
  path: Schema.String
}) {
  override get message() {
    return `The connection to the controller at ${this.path} was lost. It has ended, or is about to.`
  }
}

/**
 * The two processes do not understand each other: for example, another version, or a request that is too large.
 *
 * @since 0.1.0
 * @category errors
 */
export class IpcProtocolError extends Schema.TaggedError<IpcProtocolError>()("vitrine/IpcProtocolError", {
  path: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `The controller at ${this.path} cannot be reached: ${this.detail}`
  }
}

/**
 * The command bus of the controller refused the command, or the command failed: the error in the response of `POST
 * /command`.
 *
 * @since 0.1.0
 * @category errors
 */
export class CommandRefused extends Schema.TaggedError<CommandRefused>()("vitrine/CommandRefused", {
  description: SerializedError,
  /** The error as JSON, if the definition of the command has a schema of it. */
  failure: optional(Schema.Unknown)
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
