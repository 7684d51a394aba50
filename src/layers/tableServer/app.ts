/**
 * How routes become an application that no request makes fail, and how an error becomes a response.
 */
import * as HttpRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { type ApiError, notFound, serverError } from "./ApiError.ts"

/** Answers to the routes, and to everything else that there is nothing. */
export const toApp = <E, R>(routes: Layer.Layer<never, E, R>) =>
  HttpRouter.toHttpEffect(routes).pipe(
    Effect.provideService(HttpRouter.RouterConfig, {
      caseSensitive: true,
      ignoreDuplicateSlashes: false,
      ignoreTrailingSlash: false,
      maxParamLength: Number.POSITIVE_INFINITY
    }),
    Effect.map((app) =>
      app.pipe(
        Effect.catchTag("RouteNotFound", () => Effect.succeed(refusal(notFound))),
        Effect.catchAllDefect((defect) =>
          Effect.as(
            Effect.logError("A request to the table server failed", defect),
            refusal(serverError("The local table server failed. Its log says more."))
          )
        )
      )
    )
  )

/** Answers with the refusal instead of failing with it. */
export const answered = <R>(answer: Effect.Effect<HttpServerResponse.HttpServerResponse, ApiError, R>) =>
  Effect.catchAll(answer, (error) => Effect.succeed(refusal(error)))

const refusal = ({ body, retryAfter, status }: ApiError) =>
  HttpServerResponse.unsafeJson(body, {
    status,
    headers: retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }
  })
