/**
 * Runs the routes of a server for the `request` event of Node.
 *
 * The platform's handler would interrupt the work of a request when its client leaves, wait until each response is sent,
 * and keep a fiber in memory for as long as a stream is open.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Cookies from "@effect/platform/Cookies"
import * as Headers from "@effect/platform/Headers"
import * as HttpApp from "@effect/platform/HttpApp"
import * as HttpIncomingMessage from "@effect/platform/HttpIncomingMessage"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import { RequestError } from "@effect/platform/HttpServerError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { MultipartError } from "@effect/platform/Multipart"
import * as Effect from "effect/Effect"
import * as Inspectable from "effect/Inspectable"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { makeAwaitEnd } from "../../internal/background.ts"
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
    awaitEnd.add(fiber)
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
    return response.writableLength === 0 ? Effect.void : readInTime(response, response.writableLength)
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

/**
 * A request to a server of ours, as the platform's routes want it. The platform's own class is not exported, and its
 * module loads an HTTP client. `RequestBody.ts` reads the body; the members that would read it in other ways fail with
 * a `RequestError`.
 */
export class ServerRequest extends Inspectable.Class implements HttpServerRequest.HttpServerRequest {
  readonly [HttpServerRequest.TypeId]: HttpServerRequest.TypeId = HttpServerRequest.TypeId
  readonly [HttpIncomingMessage.TypeId]: HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId

  constructor(
    readonly source: IncomingMessage,
    readonly response: ServerResponse,
    readonly url = source.url ?? "",
    readonly headers = Headers.fromInput(source.headers),
    readonly remoteAddress = Option.fromNullable(source.socket.remoteAddress)
  ) {
    super()
  }

  get originalUrl() {
    return this.source.url ?? ""
  }

  get method(): HttpMethod {
    const { method } = this.source
    return isMethod(method) ? method : "GET"
  }

  get cookies() {
    return Cookies.parseHeader(this.headers.cookie ?? "")
  }

  get text() {
    return this.unsupported
  }

  get json() {
    return this.unsupported
  }

  get urlParamsBody() {
    return this.unsupported
  }

  get arrayBuffer() {
    return this.unsupported
  }

  get upgrade() {
    return this.unsupported
  }

  get stream() {
    return Stream.fromEffect(this.unsupported)
  }

  get multipart() {
    return Effect.mapError(
      this.unsupported,
      (cause) => new MultipartError({ reason: "InternalError", cause })
    )
  }

  get multipartStream() {
    return Stream.fromEffect(this.multipart)
  }

  private get unsupported(): Effect.Effect<never, RequestError> {
    const description = "This server offers the body of a request only to its own routes"
    return new RequestError({ request: this, reason: "Decode", description })
  }

  modify({
    headers = this.headers,
    remoteAddress,
    url = this.url
  }: Parameters<HttpServerRequest.HttpServerRequest["modify"]>[0]) {
    const address = Option.orElse(Option.fromNullable(remoteAddress), () => this.remoteAddress)
    return new ServerRequest(this.source, this.response, url, headers, address)
  }

  toJSON() {
    const { method, originalUrl: url } = this
    return HttpIncomingMessage.inspect(this, { _id: "@effect/platform/HttpServerRequest", method, url })
  }
}

/** Node accepts more methods than the platform lists. No route has them. */
const isMethod = (method: string | undefined): method is HttpMethod => method !== undefined

/** Node's response to a request to a server of ours. */
export const responseTo = (request: HttpServerRequest.HttpServerRequest): ServerResponse => {
  if (!(request instanceof ServerRequest)) {
    throw new TypeError("This route runs only on a server of its own")
  }
  return request.response
}
