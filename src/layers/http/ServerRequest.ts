/**
 * A request to a server of ours, as the platform's routes want it.
 *
 * The platform's own class is not exported, and its module loads an HTTP client.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Cookies from "@effect/platform/Cookies"
import * as Headers from "@effect/platform/Headers"
import * as HttpIncomingMessage from "@effect/platform/HttpIncomingMessage"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import { RequestError } from "@effect/platform/HttpServerError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { MultipartError } from "@effect/platform/Multipart"
import * as Effect from "effect/Effect"
import * as Inspectable from "effect/Inspectable"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

/** `RequestBody.ts` reads the body; the members that would read it in other ways fail with a `RequestError`. */
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
