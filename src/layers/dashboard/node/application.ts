/**
 * The dashboard on Node: every request gets a response, or its connection is closed.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import type { ConnectionLimit } from "../../http/connectionLimit.ts"
import { hasOneHost } from "../../http/hosts.ts"
import * as RequestTarget from "../../http/RequestTarget.ts"
import * as EventStreamResponse from "../../httpTransport/node/EventStreamResponse.ts"
import * as RequestBody from "../../httpTransport/node/RequestBody.ts"
import { type Access, isLoopback } from "../access.ts"
import type { Act } from "../actions.ts"
import { BadRequest, NotFound, TooManyConnections } from "../errors.ts"
import type { Live } from "../live.ts"
import type { Resources } from "../resources.ts"
import { everyResponse, writeError, writeResource, writeResult, writeUnexpected } from "./writeResponse.ts"

export interface Context {
  readonly access: Access
  readonly act: Act
  readonly connections: ConnectionLimit
  readonly live: Live
  readonly maxConnections: number
  readonly resources: Resources
}

/** What is still being answered when the scope ends is interrupted. */
export const make = Effect.fnUntraced(function* ({
  access,
  act,
  connections,
  live,
  maxConnections,
  resources
}: Context) {
  const run = yield* FiberSet.makeRuntime()

  const pathOf = (request: IncomingMessage) => {
    if (connections.exceededBy(request.socket)) {
      return new TooManyConnections({ limit: maxConnections })
    }
    if (!hasOneHost(request)) {
      return new BadRequest({ detail: "A request must have one Host header." })
    }
    return Effect.mapError(
      RequestTarget.path(request.url ?? ""),
      () => new BadRequest({ detail: "The request target cannot be read." })
    )
  }

  const answer = Effect.fnUntraced(function* (request: IncomingMessage, response: ServerResponse) {
    const path = yield* pathOf(request)
    const { method = "" } = request
    const head = { headers: headersOf(request), method, url: request.url ?? "" }
    if (method === "POST" && path === "/command") {
      yield* refuse(access.refuseAction(head))
      const result = yield* act(yield* RequestBody.read(response), remoteOf(request))
      live.changed()
      return yield* writeResult(response, result)
    }
    yield* refuse(access.refuseReading(head))
    if (method === "GET" && path === "/events") {
      return yield* EventStreamResponse.open(response, live, everyResponse)
    }
    const resource = method === "GET" || method === "HEAD" ? resources.get(path) : undefined
    return yield* resource === undefined
      ? new NotFound({ method, path })
      : Effect.flatMap(resource, (resource) => writeResource(response, resource))
  })

  const respond = (request: IncomingMessage, response: ServerResponse) =>
    answer(request, response).pipe(
      Effect.catchAll((error) => writeError(response, error)),
      Effect.catchAllCause((cause) =>
        Cause.isInterruptedOnly(cause)
          ? Effect.void
          : Effect.zipRight(
              Effect.logError("A request of the dashboard failed unexpectedly", cause),
              response.headersSent
                ? Effect.sync(() => void response.destroy())
                : writeUnexpected(response, Cause.squash(cause))
            )
      )
    )

  const listener: RequestListener = (request, response) => {
    run(respond(request, response))
  }
  return listener
})

const refuse = <E>(refusal: Option.Option<E>): Effect.Effect<void, E> =>
  Option.match(refusal, { onNone: () => Effect.void, onSome: Effect.fail })

/** Those that a decision may look at have one value. */
const headersOf = ({ headers }: IncomingMessage): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value])
  )

/** The address across the network that a request comes from; none on this machine. */
const remoteOf = ({ socket: { remoteAddress = "" } }: IncomingMessage): string | undefined => {
  const address = remoteAddress.replace(/^::ffff:/, "")
  return isLoopback(address) ? undefined : address
}
