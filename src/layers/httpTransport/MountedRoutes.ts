/**
 * The transport on another server: a server of the platform, or behind `HttpLayerRouter.toWebHandler`.
 *
 * It owns its routes, which match exactly, and the headers of their responses. The server owns all other paths, malformed
 * requests, time limits and the end of connections.
 */
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { makeAwaitEnd } from "../../internal/background.ts"
import { CommandBus } from "../../services/CommandBus.ts"
import { errorResponse, guarded, notFound, pathOf, preflightFor } from "../http/Application.ts"
import * as RequestBody from "../http/RequestBody.ts"
import * as SseFrame from "../http/SseFrame.ts"
import type { Access } from "./Access.ts"
import { clientOf } from "./Clients.ts"
import type { Streams } from "./EventStream.ts"
import * as Routes from "./Routes.ts"

export interface Context {
  readonly access: Access
  readonly eventStream: Streams
  readonly options: Routes.RoutesContext["options"]
  /** In front of each path; empty for none. */
  readonly prefix: string
}

/** Adds the routes to the router of the environment. */
export const add = Effect.fnUntraced(function* ({ access, eventStream, options, prefix }: Context) {
  const router = yield* HttpLayerRouter.HttpRouter
  const own = yield* Routes.make({
    options,
    events: HttpServerRequest.HttpServerRequest.pipe(
      Effect.flatMap((request) => eventStream.stream(clientOf(request))),
      Effect.map((frames) => HttpServerResponse.stream(frames, { headers: SseFrame.headers }))
    ),
    body: RequestBody.readMounted
  }).pipe(Effect.provideServiceEffect(CommandBus, keptCommands))
  const guard = guarded({ refuse: access.refuse, headers: access.corsHeaders })
  const missing = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    Effect.fail(notFound(request))
  )
  /** The router of the server may match other paths to this route, and `HEAD` to `GET`. */
  const exactly = (path: string, handler: Routes.Handler) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      request.method !== "HEAD" && pathOf(request) === prefix + path ? handler : missing
    )
  const others = [...new Set(own.map(({ path }) => path))].flatMap((path) => [
    HttpLayerRouter.route("OPTIONS", path, Effect.succeed(preflight)),
    ...methods
      .filter((method) => !own.some((route) => route.path === path && route.method === method))
      .map((method) => HttpLayerRouter.route(method, path, missing))
  ])
  yield* (prefix === "" ? router : router.prefixed(prefix)).addAll(
    [...own.map((route) => ({ ...route, handler: exactly(route.path, route.handler) })), ...others].map(
      (route) => ({
        ...route,
        handler: guard(Effect.catchAll(route.handler, (error) => Effect.succeed(errorResponse(error))))
      })
    )
  )
})

/** Always allows `Authorization`, because the server itself may require it. */
const preflight = preflightFor("GET, POST, OPTIONS", "Content-Type, Authorization")

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

/** A command continues if its client disconnects and the server interrupts the request. */
const keptCommands = Effect.gen(function* () {
  const commands = yield* CommandBus
  const awaitEnd = yield* makeAwaitEnd
  return CommandBus.of({
    ...commands,
    dispatch: (command, options) =>
      Effect.interruptible(commands.dispatch(command, options)).pipe(
        Effect.forkDaemon,
        Effect.tap((fiber) => Effect.sync(() => awaitEnd.add(fiber))),
        Effect.flatMap(Fiber.join)
      )
  })
})
