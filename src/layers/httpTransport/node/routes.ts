/**
 * The routes of the transport on a Node server of its own, where all event streams share their bytes.
 */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import * as EventStreamResponse from "../../http/EventStreamResponse.ts"
import * as RequestBody from "../../http/NodeRequestBody.ts"
import { closed } from "../../http/stallTimeout.ts"
import type { Access } from "../Access.ts"
import { clientOf } from "../Audience.ts"
import type { EventStream } from "../EventStream.ts"
import type { HttpTransportOptions } from "../HttpTransportOptions.ts"
import * as routes from "../routes.ts"

export interface Context {
  readonly access: Access
  readonly eventStream: EventStream
  readonly options: routes.RoutesContext["options"] & Pick<HttpTransportOptions, "traceRequests">
}

export const make = ({ access, eventStream, options }: Context) => {
  const { join, leave } = eventStream
  return routes.make({
    options,
    events: Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      const response = NodeHttpServerRequest.toServerResponse(request)
      const client = clientOf(request.headers)
      const opened = EventStreamResponse.open(
        response,
        { join: (sink) => join(sink, client), leave },
        access.corsHeaders(request)
      )
      // The span of a request ends with its handler.
      return options.traceRequests === true ? Effect.zipRight(opened, closed(response)) : opened
    }).pipe(Effect.as(HttpServerResponse.empty({ status: 200 }))),
    body: Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      RequestBody.read(NodeHttpServerRequest.toServerResponse(request))
    )
  })
}
