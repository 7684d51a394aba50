/**
 * Runs the routes of a server for the `request` event of Node.
 *
 * The platform's handler would interrupt the work of a request when its client leaves, wait until each response is sent,
 * and keep a fiber in memory for as long as a stream is open.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import * as HttpApp from "@effect/platform/HttpApp"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import { makeAwaitEnd } from "../../internal/background.ts"
import { responseTo, ServerRequest } from "./ServerRequest.ts"
import { partBytes, sendParts } from "./sendParts.ts"
import { readInTime } from "./stallTimeout.ts"

type Request = HttpServerRequest.HttpServerRequest

type Response = HttpServerResponse.HttpServerResponse

/** Returned by a handler that has written the response itself, or has started one that is continued elsewhere. */
export const written: Response = HttpServerResponse.raw(null)

/**
 * Returns the fiber of each request. The fiber ends with the response, or when an event stream has begun. It continues if
 * the client leaves. The end of the scope waits for it, and interrupts it after a moment.
 */
export const make = Effect.fnUntraced(function* (
  app: HttpApp.Default<never, Scope.Scope>,
  untraced: (request: Request) => boolean
) {
  const awaitEnd = yield* makeAwaitEnd
  const handled = HttpApp.toHandled(app, write)
  const fork = Runtime.runFork(
    yield* Effect.locally(Effect.runtime(), HttpMiddleware.currentTracerDisabledWhen, untraced)
  )
  return (request: IncomingMessage, response: ServerResponse) => {
    const fiber = fork(
      Effect.provideService(
        handled,
        HttpServerRequest.HttpServerRequest,
        new ServerRequest(request, response)
      )
    )
    awaitEnd(fiber)
    return fiber
  }
})

/**
 * Writes a response, a large body part by part, unless its client has gone. If a response has begun already, its connection is cut, so
 * that the client sees that the response is incomplete.
 */
const write = (request: Request, { body, headers, status }: Response): Effect.Effect<void> =>
  Effect.suspend(() => {
    const response = responseTo(request)
    if (body._tag === "Raw" || response.destroyed) {
      return Effect.void
    }
    if (response.headersSent) {
      return Effect.sync(() => void response.destroy())
    }
    response.writeHead(
      status,
      body._tag === "Uint8Array" ? { ...headers, "content-length": body.contentLength } : headers
    )
    const bytes = body._tag === "Uint8Array" && response.req.method !== "HEAD" ? body.body : undefined
    if (bytes !== undefined && bytes.length > partBytes) {
      return sendInTime(response, bytes)
    }
    response.end(bytes)
    return readInTime(response, response.writableLength)
  })

/** Sends a large body in the background. */
const sendInTime = (response: ServerResponse, bytes: Uint8Array): Effect.Effect<void> =>
  Effect.map(Effect.runtime(), (runtime) => {
    const run = Runtime.runFork(runtime)
    void sendParts(response, {
      size: bytes.length,
      read: async (position, length) => bytes.subarray(position, position + length),
      onWait: () => run(readInTime(response, bytes.length))
    })
  })
