/**
 * The HTTP/SSE transport: the command bus and the event bus over loopback HTTP and Server-Sent Events, for
 * clients that cannot open a Unix socket (specification, sections 1 and 4).
 */
import { createServer } from "node:http"
import { isIPv6 } from "node:net"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { BindError } from "../../services/BindError.ts"
import type { CommandBus } from "../../services/CommandBus.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { EventBus } from "../../services/EventBus.ts"
import { HttpTransport } from "../../services/HttpTransport.ts"
import type { InvalidOptions } from "../../services/Options.ts"
import type { ReplayBacklog } from "../../services/ReplayBacklog.ts"
import { listen } from "../http/listen.ts"
import { answerMalformed } from "../http/malformed.ts"
import * as Access from "./Access.ts"
import { decode, type HttpTransportConfig, type HttpTransportOptions } from "./HttpTransportOptions.ts"
import * as Hub from "./Hub.ts"
import { inTurn } from "./inTurn.ts"
import { allowHalfClosed } from "./patience.ts"
import * as RequestBody from "./RequestBody.ts"
import * as routes from "./routes.ts"
import { nothingDone } from "./statistics.ts"
import { statusRows } from "./transportStatus.ts"

export { HttpTransport }

/**
 * The transport with the given options. Options are validated in every mode; in task mode nothing is bound.
 *
 * It ends within two seconds whatever its clients do.
 */
export const layer = (
  options: HttpTransportConfig = {}
): Layer.Layer<
  HttpTransport,
  InvalidOptions | BindError,
  EventBus | CommandBus | ReplayBacklog | ControllerState
> => Layer.scoped(HttpTransport, Effect.flatMap(decode(options), make))

/** The same without a layer, of decoded options. It subscribes to the event bus before it waits for anything. */
export const make = Effect.fnUntraced(function* (options: HttpTransportOptions) {
  const state = yield* ControllerState
  if (state.mode === "task") {
    return HttpTransport.of({
      address: Option.none(),
      clients: Effect.succeed(0),
      statistics: Effect.succeed(nothingDone)
    })
  }

  const hub = yield* Hub.make(options)
  const access = Access.make(options)
  const answer = yield* routes.make({ access, hub, options })
  const handler = yield* NodeHttpServer.makeHandler(answer).pipe(
    Effect.locally(HttpMiddleware.currentTracerDisabledWhen, () => true),
    Effect.map((handler) => inTurn(handler, RequestBody.begin))
  )
  const server = yield* allowHalfClosed(
    createServer(
      {
        headersTimeout: 10_000,
        requestTimeout: 30_000,
        connectionsCheckingInterval: 2000,
        requireHostHeader: false
      },
      handler
    )
  )
  // Node's own answers would lack what every answer carries, and come before it is their turn.
  for (const event of ["checkContinue", "checkExpectation"]) {
    server.on(event, (request, response) => server.emit("request", request, response))
  }
  answerMalformed(server, ({ message }) => ({
    headers: access.corsHeadersOfMalformed,
    body: { error: { message } }
  }))
  const address = yield* listen(server, { ...options, beforeDrain: hub.close })

  const host = isIPv6(options.host) ? `[${options.host}]` : options.host
  const url = `http://${host}:${address.port}`
  yield* Effect.logInfo(`HTTP transport on ${url}: event stream at ${url}/events, status at ${url}/status`)
  yield* state.updateSlice("http-transport", () => ({ url, maxClients: options.maxClients }))
  yield* state.addSection({
    name: "http-transport",
    order: 20,
    title: "HTTP transport",
    rows: Effect.zipWith(hub.statistics, hub.streams, (statistics, streams) =>
      statusRows({ url, maxClients: options.maxClients, statistics, streams })
    )
  })
  const clients = Effect.map(hub.statistics, ({ clients }) => clients)
  return HttpTransport.of({ address: Option.some(address), clients, statistics: hub.statistics })
})
