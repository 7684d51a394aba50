/**
 * The routes of the transport (specification, section 4), for any server.
 */
import * as HttpRouter from "@effect/platform/HttpLayerRouter"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import { type Command, CommandBus } from "../../services/CommandBus.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { HttpTransportOptions } from "./HttpTransportOptions.ts"
import * as responses from "./responses.ts"

type Response = HttpServerResponse.HttpServerResponse

/** What a route does with a request. */
export type Handler<A = Response> = Effect.Effect<
  A,
  responses.AnswerableError,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

export interface RoutesContext {
  readonly options: Pick<HttpTransportOptions, "allowedCommands" | "exposeState">
  /** Responds with an event stream. */
  readonly events: Handler
  /** The body of a command. */
  readonly body: Handler<Uint8Array>
}

/** The method, the path and the handler of each route. */
export const make = Effect.fnUntraced(function* ({ body, events, options }: RoutesContext) {
  const commands = yield* CommandBus
  const { state, status } = yield* ControllerState

  const command = body.pipe(
    Effect.flatMap(parseCommand),
    Effect.filterOrFail(
      ({ type }) => options.allowedCommands.includes(type),
      ({ type }) => new responses.CommandNotAllowed({ type })
    ),
    Effect.flatMap(commands.dispatch),
    Effect.map(responses.result)
  )

  return [
    // It ends with its response anyhow; an interruption would be answered and reported as an error.
    HttpRouter.route("GET", "/events", responding(events), { uninterruptible: true }),
    HttpRouter.route("POST", "/command", responding(command)),
    HttpRouter.route("GET", "/status", Effect.map(status, responses.snapshot)),
    ...(options.exposeState ? [HttpRouter.route("GET", "/state", Effect.map(state, responses.snapshot))] : [])
  ]
})

const responding = <R>(handler: Effect.Effect<Response, responses.AnswerableError, R>) =>
  Effect.catchAll(handler, (error) => Effect.succeed(responses.error(error)))

/** Responds to what nobody expected, and logs it. */
export const unexpected = (cause: Cause.Cause<unknown>): Effect.Effect<Response> =>
  Cause.isInterruptedOnly(cause)
    ? Effect.interrupt
    : Effect.as(
        Effect.logError("A request failed unexpectedly", cause),
        responses.commandError(Cause.squash(cause))
      )

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const parseCommand = (body: Uint8Array): Effect.Effect<Command, responses.BadRequest> =>
  Effect.try({
    try: (): unknown => JSON.parse(utf8.decode(body)),
    catch: () => new responses.BadRequest({ detail: "The body is not valid JSON." })
  }).pipe(
    Effect.filterOrFail(
      isCommand,
      () => new responses.BadRequest({ detail: 'The body must be a JSON object with a string "type".' })
    )
  )

const isCommand = (value: unknown): value is Command =>
  Predicate.isReadonlyRecord(value) && typeof value.type === "string"
