/**
 * A server as a list of routes. An HttpRouter composes the routes: every request, however odd, gets a response.
 *
 * The files of this folder use Node directly instead of `@effect/platform`. They could use the platform if it
 *
 * - finished the work of a request whose client leaves, and kept a response open without a waiting fiber
 *   (`RequestHandler.ts`, `EventStreamResponse.ts`);
 * - limited the size of a body, waited a moment before it closes the connection, and answered `Expect` (`RequestBody.ts`);
 * - gave the version of HTTP and the raw headers of a request (`Access.ts`, for two `Host` headers);
 * - handled pipelined requests in turn, and let half-closed clients read (`HttpServer.ts`, `stallTimeout.ts`);
 * - exposed the server's `clientError`, and ended within a time limit (`HttpServer.ts`, `Listen.ts`).
 */
import type { RequestListener, Server } from "node:http"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerError from "@effect/platform/HttpServerError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as ConnectionLimit from "./ConnectionLimit.ts"
import { BadRequest, NotFound, type RequestError } from "./errors.ts"
import * as HttpServer from "./HttpServer.ts"
import * as RequestHandler from "./RequestHandler.ts"
import * as Access from "./RequestHead.ts"
import * as Responses from "./Responses.ts"

type Request = HttpServerRequest.HttpServerRequest

type Response = HttpServerResponse.HttpServerResponse

/** The rules for every request, on any server. */
export interface Guard {
  /** Why a request is refused, for any route; `None` if it is not. */
  readonly refuse: (request: Request) => Option.Option<RequestError>
  /** Default headers of every response. A request that could not be parsed has no headers. */
  readonly headers: (request: Pick<Access.RequestHead, "headers">) => Readonly<Record<string, string>>
}

export interface Options extends Guard {
  readonly routes: ReadonlyArray<HttpLayerRouter.Route<RequestError>>
  /** Default: at most `maxConnections`. */
  readonly connections?: ConnectionLimit.ConnectionLimit | undefined
  /** The answer to every `OPTIONS`. If omitted, `OPTIONS` is routed like other methods. */
  readonly preflight?: Response | undefined
  /** Whether a route for `GET` answers `HEAD`, too. Default true. */
  readonly answersHead?: boolean | undefined
  /** The error for a method and a path without a route. */
  readonly otherwise?: ((request: Request) => RequestError) | undefined
  /** Whether a request gets no span. Default: no request gets a span. */
  readonly untraced?: ((request: Request) => boolean) | undefined
  /** Called for each request when it is handled. */
  readonly onRequest?: RequestListener | undefined
}

/** Refuses requests that are not allowed, and turns unexpected failures of the handler into responses. */
export const guarded =
  ({ headers, refuse }: Guard) =>
  <E, R>(handler: Effect.Effect<Response, E, R>) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      Option.match(refuse(request), {
        onNone: () => Effect.catchAllCause(handler, Responses.unexpected),
        onSome: (refusal) => Effect.succeed(Responses.error(refusal))
      }).pipe(
        Effect.map((answer) =>
          HttpServerResponse.setHeaders(answer, { ...headers(request), ...answer.headers })
        )
      )
    )

/** A server that answers every request. `listen` binds it. */
export const make = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<Server, never, Scope.Scope> {
  const { answersHead = true, otherwise = notFound, preflight, untraced = constTrue } = options
  const { connections = ConnectionLimit.make(ConnectionLimit.maxConnections) } = options

  const refuse = (request: Request): Option.Option<RequestError> =>
    Option.orElse(connections.refuse(RequestHandler.responseTo(request).req.socket), () =>
      Access.isReadable(request.url) ? options.refuse(request) : Option.some(unreadableTarget)
    )

  const edge = <E, R>(routed: Effect.Effect<Response, E, R>) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      if (!Access.hasOneHost(RequestHandler.responseTo(request).req)) {
        return Effect.succeed(Responses.error(oneHost))
      }
      if (request.method === "OPTIONS" && preflight !== undefined) {
        return Effect.succeed(preflight)
      }
      const path = Access.pathOf(request.url)
      if (Option.isNone(path)) {
        return Effect.succeed(Responses.error(unreadableTarget))
      }
      if (request.method === "HEAD" && !answersHead) {
        return Effect.succeed(Responses.error(otherwise(request)))
      }
      const url = Access.literalPath(path.value)
      return url === request.url
        ? routed
        : Effect.provideService(routed, HttpServerRequest.HttpServerRequest, request.modify({ url }))
    })

  // Not as a layer: the servers of a program would share one router.
  const router = yield* Effect.provideService(
    HttpLayerRouter.make,
    HttpLayerRouter.RouterConfig,
    exactMatching
  )
  yield* router.addAll(
    options.routes.map((route) => ({
      ...route,
      handler: Effect.catchAll(route.handler, (error) => Effect.succeed(Responses.error(error)))
    }))
  )
  yield* router.addGlobalMiddleware(edge)

  const answer = router.asHttpEffect().pipe(
    Effect.catchIf(isRouteNotFound, ({ request }) => Effect.succeed(Responses.error(otherwise(request)))),
    guarded({ ...options, refuse })
  )
  const handle = yield* RequestHandler.make(answer, untraced)
  const server = yield* HttpServer.make(
    (request, response) => {
      options.onRequest?.(request, response)
      const fiber = handle(request, response)
      connections.began(request.socket, fiber)
    },
    ({ message }) => ({
      headers: options.headers({ headers: {} }),
      body: { error: { message } }
    })
  )
  yield* connections.watch(server)
  return server
})

/** The error for a request without a route. */
export const notFound = (request: Request) =>
  new NotFound({ message: `Not found: ${request.method} ${pathOf(request)}` })

/** The path of a request as the client sent it. */
export const pathOf = ({ originalUrl }: Request): string =>
  Option.getOrElse(Access.pathOf(originalUrl), () => originalUrl)

const unreadableTarget = new BadRequest({ message: Access.unreadableTarget })

const oneHost = new BadRequest({ message: "A request must have one Host header." })

/** Paths match exactly, at any length. */
const exactMatching = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  maxParamLength: Number.POSITIVE_INFINITY
}

const isRouteNotFound = (error: unknown): error is HttpServerError.RouteNotFound =>
  HttpServerError.isServerError(error) && error._tag === "RouteNotFound"
