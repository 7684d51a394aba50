/**
 * A server as a list of routes. An HttpRouter composes the routes: every request, however odd, gets a response, made from a
 * result or an error.
 *
 * The files of this folder use Node directly instead of `@effect/platform`. They could use the platform if it
 *
 * - finished the work of a request whose client leaves, and kept a response open without a waiting fiber
 *   (`RequestHandler.ts`, `EventStreamResponse.ts`);
 * - limited the size of a body, waited a moment before it closes the connection, and answered `Expect` (`RequestBody.ts`);
 * - gave the version of HTTP and the raw headers of a request (`RequestHead.ts`, for two `Host` headers);
 * - handled pipelined requests in turn, and let half-closed clients read (`HttpServer.ts`, `stallTimeout.ts`);
 * - exposed the server's `clientError`, and ended within a time limit (`HttpServer.ts`, `Listen.ts`).
 */
import type { RequestListener, Server } from "node:http"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerError from "@effect/platform/HttpServerError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { jsonText } from "../../internal/jsonText.ts"
import { serializeError } from "../../internal/SerializedError.ts"
import * as ConnectionLimit from "./ConnectionLimit.ts"
import { BadRequest, NotFound, type RequestError } from "./errors.ts"
import * as HttpServer from "./HttpServer.ts"
import * as RequestHandler from "./RequestHandler.ts"
import * as RequestHead from "./RequestHead.ts"

type Request = HttpServerRequest.HttpServerRequest

type Response = HttpServerResponse.HttpServerResponse

/** The rules for every request, on any server. */
export interface Guard {
  /** Why a request is refused, for any route; `None` if it is not. */
  readonly refuse: (request: Request) => Option.Option<RequestError>
  /** Default headers of every response. A request that could not be parsed has no headers. */
  readonly headers: (request: Pick<RequestHead.RequestHead, "headers">) => Readonly<Record<string, string>>
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
        onNone: () => Effect.catchAllCause(handler, unexpected),
        onSome: (refusal) => Effect.succeed(errorResponse(refusal))
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
      RequestHead.isReadable(request.url) ? options.refuse(request) : Option.some(unreadableTarget)
    )

  const edge = <E, R>(routed: Effect.Effect<Response, E, R>) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      if (!RequestHead.hasOneHost(RequestHandler.responseTo(request).req)) {
        return Effect.succeed(errorResponse(oneHost))
      }
      if (request.method === "OPTIONS" && preflight !== undefined) {
        return Effect.succeed(preflight)
      }
      const path = RequestHead.pathOf(request.url)
      if (Option.isNone(path)) {
        return Effect.succeed(errorResponse(unreadableTarget))
      }
      if (request.method === "HEAD" && !answersHead) {
        return Effect.succeed(errorResponse(otherwise(request)))
      }
      const url = RequestHead.literalPath(path.value)
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
      handler: Effect.catchAll(route.handler, (error) => Effect.succeed(errorResponse(error)))
    }))
  )
  yield* router.addGlobalMiddleware(edge)

  const answer = router.asHttpEffect().pipe(
    Effect.catchIf(isRouteNotFound, ({ request }) => Effect.succeed(errorResponse(otherwise(request)))),
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
  Option.getOrElse(RequestHead.pathOf(originalUrl), () => originalUrl)

const unreadableTarget = new BadRequest({ message: RequestHead.unreadableTarget })

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

/** The whole failure of a command; only the message of other errors. */
const described = (error: RequestError): unknown => {
  if (error._tag === "vitrine/CommandFailed") {
    return { ...serializeError(error.cause), failure: error.failure }
  }
  return "status" in error ? { message: error.message } : serializeError(error)
}

/** The response for an error, with the status of the error. */
export const errorResponse = (error: RequestError): Response => {
  const body = { error: described(error) }
  if ("status" in error) {
    return HttpServerResponse.setHeaders(json(body, error.status), error.headers ?? {})
  }
  return error._tag === "vitrine/CommandUnavailable" && error.reason === "busy"
    ? HttpServerResponse.setHeader(json(body, 503), "retry-after", "10")
    : json(body, 500)
}

/**
 * Responds to an unexpected failure, and logs it. An interrupted handler has interrupted itself: if another fiber
 * interrupts it, it does not get here.
 */
const unexpected = (cause: Cause.Cause<unknown>): Effect.Effect<Response> =>
  Cause.isInterruptedOnly(cause)
    ? Effect.as(
        Effect.logInfo("A request was interrupted by its own work, as at the end of the controller", cause),
        json({ error: { message: interrupted } }, 503)
      )
    : Effect.as(
        Effect.logError("A request failed unexpectedly", cause),
        json({ error: serializeError(Cause.squash(cause)) }, 500)
      )

const interrupted =
  "The request was interrupted. It may have been carried out in part: check before you send it again."

/** Builds the text itself: an object would drop `result` if its value is a function, for example. */
export const result = (value: unknown): Response => text(`{"result":${jsonText(value)}}`, jsonType)

export const json = (value: unknown, status = 200): Response => text(jsonText(value), jsonType, status)

const jsonType = "application/json"

export const text = (body: string, contentType: string, status = 200): Response =>
  HttpServerResponse.uint8Array(Buffer.from(body), { status, contentType })

/** The answer to the CORS preflight of a page. */
export const preflightFor = (methods: string, headers: string): Response =>
  HttpServerResponse.empty({
    status: 204,
    headers: {
      "access-control-allow-methods": methods,
      "access-control-allow-headers": headers,
      "access-control-max-age": "86400"
    }
  })
