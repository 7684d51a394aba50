/**
 * The routes of the transport (specification, section 4).
 */
import type { IncomingMessage } from "node:http"
import * as HttpRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerError from "@effect/platform/HttpServerError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { type Command, CommandBus } from "../../services/CommandBus.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import * as RequestTarget from "../http/RequestTarget.ts"
import type { Access } from "./Access.ts"
import * as answers from "./answers.ts"
import * as EventStreamResponse from "./EventStreamResponse.ts"
import type { HttpTransportOptions } from "./HttpTransportOptions.ts"
import type { Hub } from "./Hub.ts"
import * as RequestBody from "./RequestBody.ts"
import { sendAnswer } from "./sendAnswer.ts"

type Options = Pick<HttpTransportOptions, "allowedCommands" | "exposeState">

export interface Context {
  readonly access: Access
  readonly hub: Hub
  readonly options: Options
}

/** The whole of the transport as one HTTP application that answers everything and never fails. */
export const make = Effect.fnUntraced(function* ({ access, hub, options }: Context) {
  const commands = yield* CommandBus
  const { state, status } = yield* ControllerState

  const events = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const response = NodeHttpServerRequest.toServerResponse(request)
    return EventStreamResponse.open(response, hub, access.corsHeaders(response.req))
  }).pipe(
    Effect.as(HttpServerResponse.empty()),
    Effect.catchAll((error) => Effect.succeed(answers.error(error)))
  )

  const command = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    RequestBody.read(NodeHttpServerRequest.toServerResponse(request))
  ).pipe(
    Effect.flatMap(parseCommand),
    Effect.filterOrFail(
      ({ type }) => options.allowedCommands.includes(type),
      ({ type }) => new answers.CommandNotAllowed({ type })
    ),
    Effect.flatMap(commands.dispatch),
    Effect.map(answers.result),
    Effect.catchAll((error) => Effect.succeed(answers.error(error)))
  )

  // Not as a layer: those of one program would be one and the same router.
  const router = yield* Effect.provideService(HttpRouter.make, HttpRouter.RouterConfig, exactMatching)
  yield* router.addAll([
    // It ends with its response anyhow; an interruption would be answered and reported as an error.
    HttpRouter.route("GET", "/events", events, { uninterruptible: true }),
    HttpRouter.route("POST", "/command", command),
    HttpRouter.route("GET", "/status", Effect.map(status, answers.snapshot)),
    ...(options.exposeState ? [HttpRouter.route("GET", "/state", Effect.map(state, answers.snapshot))] : [])
  ])
  const routed = router.asHttpEffect().pipe(
    Effect.catchIf(isRouteNotFound, ({ request }) => Effect.sync(() => notFound(request))),
    Effect.catchAllCause(unexpected)
  )

  const preflight = answers.preflight(access.allowedHeaders)

  const answer = (request: HttpServerRequest.HttpServerRequest) => {
    const source = NodeHttpServerRequest.toIncomingMessage(request)
    if (!RequestTarget.isReadable(request.url)) {
      return Effect.succeed(unreadableTarget)
    }
    const refusal = access.refuse(source)
    if (Option.isSome(refusal)) {
      return Effect.succeed(answers.error(refusal.value))
    }
    if (request.method === "OPTIONS") {
      return Effect.succeed(preflight)
    }
    if (!hasOneHost(source)) {
      return Effect.succeed(badRequest("A request must have one Host header."))
    }
    const path = RequestTarget.path(request.url)
    if (Option.isNone(path)) {
      return Effect.succeed(unreadableTarget)
    }
    // The router would answer HEAD as GET.
    if (request.method === "HEAD") {
      return Effect.succeed(notFound(request))
    }
    const url = RequestTarget.literal(path.value)
    return url === request.url
      ? routed
      : Effect.provideService(routed, HttpServerRequest.HttpServerRequest, request.modify({ url }))
  }

  return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    Effect.flatMap(answer(request), (answer) => {
      const response = NodeHttpServerRequest.toServerResponse(request)
      return sendAnswer(response, answer, access.corsHeaders(response.req))
    })
  )
})

const badRequest = (detail: string) => answers.error(new answers.BadRequest({ detail }))

const unreadableTarget = badRequest("The request target cannot be read.")

const notFound = ({ method, originalUrl }: HttpServerRequest.HttpServerRequest) =>
  answers.error(
    new answers.NoSuchRoute({
      method,
      path: Option.getOrElse(RequestTarget.path(originalUrl), () => originalUrl)
    })
  )

/** HTTP/1.1 demands the header, and forbids a second one. */
const hasOneHost = ({ httpVersion, rawHeaders }: IncomingMessage): boolean => {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host")
  return hosts.length === 1 || (hosts.length === 0 && httpVersion !== "1.1")
}

/** Paths match exactly (decisions, part B). */
const exactMatching = { caseSensitive: true, ignoreTrailingSlash: false, ignoreDuplicateSlashes: false }

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const parseCommand = (body: Buffer): Effect.Effect<Command, answers.BadRequest> =>
  Effect.try({
    try: (): unknown => JSON.parse(utf8.decode(body)),
    catch: () => new answers.BadRequest({ detail: "The body is not valid JSON." })
  }).pipe(
    Effect.filterOrFail(
      isCommand,
      () => new answers.BadRequest({ detail: 'The body must be a JSON object with a string "type".' })
    )
  )

const isCommand = (value: unknown): value is Command =>
  Predicate.isReadonlyRecord(value) && typeof value.type === "string"

const isRouteNotFound = (error: unknown): error is HttpServerError.RouteNotFound =>
  HttpServerError.isServerError(error) && error._tag === "RouteNotFound"

const unexpected = (cause: Cause.Cause<unknown>): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Cause.isInterruptedOnly(cause)
    ? Effect.interrupt
    : Effect.as(
        Effect.logError("A request failed unexpectedly", cause),
        answers.commandError(Cause.squash(cause))
      )
