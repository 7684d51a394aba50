/**
 * The transport on a Node server of its own: every request, however odd, gets a response (specification, section 4).
 *
 * The files of this folder, and of `http`, go past `@effect/platform` to Node. It would not need them if the platform
 *
 * - left the rest of a response's life to a handler without a fiber that waits (`EventStreamResponse.ts` and
 *   `writeResponse.ts` use the raw response, and `writableEnded`);
 * - limited a body's size and lingered before it closes the connection, and answered `Expect` (`RequestBody.ts`);
 * - gave the version of HTTP and the raw headers of a request (`hosts.ts`, for two `Host` headers);
 * - handled pipelined requests in turn, and let half-closed clients read (`serialized.ts`, `stallTimeout.ts`);
 * - had the server's `clientError`, and an end with a time limit (`clientErrors.ts`, `listen.ts`).
 */
import * as HttpRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerError from "@effect/platform/HttpServerError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { hasOneHost } from "../../http/hosts.ts"
import * as RequestTarget from "../../http/RequestTarget.ts"
import { closed } from "../../http/stallTimeout.ts"
import type { Access } from "../Access.ts"
import type { EventStream } from "../EventStream.ts"
import type { HttpTransportOptions } from "../HttpTransportOptions.ts"
import * as responses from "../responses.ts"
import * as routes from "../routes.ts"
import * as EventStreamResponse from "./EventStreamResponse.ts"
import * as RequestBody from "./RequestBody.ts"
import { writeResponse } from "./writeResponse.ts"

export interface Context {
  readonly access: Access
  readonly eventStream: EventStream
  readonly options: routes.RoutesContext["options"] & Pick<HttpTransportOptions, "traceRequests">
}

/** The whole of the transport as one HTTP application that answers everything and never fails. */
export const make = Effect.fnUntraced(function* ({ access, eventStream, options }: Context) {
  const all = yield* routes.make({
    options,
    events: Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      const response = NodeHttpServerRequest.toServerResponse(request)
      const opened = EventStreamResponse.open(response, eventStream, access.corsHeaders(request))
      // The span of a request ends with its handler.
      return options.traceRequests === true ? Effect.zipRight(opened, closed(response)) : opened
    }).pipe(Effect.as(HttpServerResponse.empty({ status: 200 }))),
    body: Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      RequestBody.read(NodeHttpServerRequest.toServerResponse(request))
    )
  })

  // Not as a layer: those of one program would be one and the same router.
  const router = yield* Effect.provideService(HttpRouter.make, HttpRouter.RouterConfig, exactMatching)
  yield* router.addAll(all)
  const routed = router.asHttpEffect().pipe(
    Effect.catchIf(isRouteNotFound, ({ request }) => Effect.sync(() => notFound(request))),
    Effect.catchAllCause(routes.unexpected)
  )

  const preflight = responses.preflight(access.allowedHeaders)

  const answer = (request: HttpServerRequest.HttpServerRequest) => {
    const source = NodeHttpServerRequest.toIncomingMessage(request)
    if (!RequestTarget.isReadable(request.url)) {
      return Effect.succeed(unreadableTarget)
    }
    const refusal = access.refuse(request)
    if (Option.isSome(refusal)) {
      return Effect.succeed(responses.error(refusal.value))
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
      return writeResponse(response, answer, access.corsHeaders(request))
    })
  )
})

const badRequest = (detail: string) => responses.error(new responses.BadRequest({ detail }))

const unreadableTarget = badRequest("The request target cannot be read.")

const notFound = ({ method, originalUrl }: HttpServerRequest.HttpServerRequest) =>
  responses.error(
    new responses.NoSuchRoute({
      method,
      path: Option.getOrElse(RequestTarget.path(originalUrl), () => originalUrl)
    })
  )

/** Paths match exactly (decisions, part B). */
const exactMatching = { caseSensitive: true, ignoreTrailingSlash: false, ignoreDuplicateSlashes: false }

const isRouteNotFound = (error: unknown): error is HttpServerError.RouteNotFound =>
  HttpServerError.isServerError(error) && error._tag === "RouteNotFound"
