/**
 * The routes of the transport (docs/wire.md, section 4), for any server.
 */
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Command, CommandBus } from "../../services/CommandBus.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import { json, result } from "../http/Application.ts"
import { BadRequest, CommandNotAllowed, type RequestError } from "../http/errors.ts"
import { parseCommand } from "../memory/definedCommands.ts"
import { forOwner, type HttpTransportOptions } from "./HttpTransportOptions.ts"

type Response = HttpServerResponse.HttpServerResponse

/** Handles a request of a route. */
export type Handler<A = Response> = Effect.Effect<
  A,
  RequestError,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

export interface RoutesContext {
  readonly options: Pick<HttpTransportOptions, "exposeState"> & {
    readonly allowedCommands: ReadonlyArray<string> | "all"
  }
  /** Responds with an event stream. */
  readonly events: Handler
  /** The body of a command. */
  readonly body: Handler<Uint8Array>
}

/** The method, the path and the handler of each route. */
export const make = Effect.fnUntraced(function* ({ body, events, options }: RoutesContext) {
  const commands = yield* CommandBus
  const { state, status } = yield* ControllerState

  /**
   * Whether a command neither asks the screens of a content nor accepts its warnings. A content NAME has `NAME.screen`,
   * `NAME.accept` and `NAME.manifest.read`.
   */
  const isForAll = (type: string) => {
    const end = type.lastIndexOf(".") + 1
    return ["accept", "screen"].includes(type.slice(end))
      ? Effect.map(commands.types, (types) => !types.includes(`${type.slice(0, end)}manifest.read`))
      : Effect.succeed(true)
  }

  const command = body.pipe(
    Effect.flatMap(parseCommand),
    Effect.catchTag("vitrine/MalformedCommand", ({ message }) => new BadRequest({ message })),
    Effect.filterOrFail(
      ({ type }) => options.allowedCommands === "all" || options.allowedCommands.includes(type),
      notAllowed
    ),
    Effect.filterEffectOrFail({
      predicate: ({ type }) => (options.allowedCommands === "all" ? Effect.succeed(true) : isForAll(type)),
      orFailWith: ({ type }) => new CommandNotAllowed({ message: `Command not allowed: ${forOwner(type)}.` })
    }),
    Effect.flatMap(commands.dispatch),
    Effect.map(result)
  )

  return [
    // Uninterruptible: an interruption would be answered and logged as an error. The route ends with its response anyway.
    HttpLayerRouter.route("GET", "/events", events, { uninterruptible: true }),
    HttpLayerRouter.route("POST", "/command", command),
    HttpLayerRouter.route("GET", "/status", Effect.map(status, json)),
    ...(options.exposeState ? [HttpLayerRouter.route("GET", "/state", Effect.map(state, json))] : [])
  ]
})

const notAllowed = ({ type }: Command) =>
  new CommandNotAllowed({
    message: `Command not allowed: ${JSON.stringify(type)} is not among the "allowedCommands" of the HTTP transport.`
  })
