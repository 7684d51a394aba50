/**
 * The HTTP/SSE transport: the command bus and the event bus over loopback HTTP and Server-Sent Events, for
 * clients that cannot open a Unix socket (docs/wire.md, sections 1 and 4).
 */
import type { AddressInfo } from "node:net"
import type * as HttpRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { InvalidOptions } from "../../internal/Options.ts"
import { printableLine } from "../../internal/printable.ts"
import type { CommandBus } from "../../services/CommandBus.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { EventBus } from "../../services/EventBus.ts"
import { HttpTransport } from "../../services/HttpTransport.ts"
import type { ReplayBacklog } from "../../services/ReplayBacklog.ts"
import type { TransportState } from "../../services/Slices.ts"
import * as application from "../http/application.ts"
import * as EventStreamResponse from "../http/EventStreamResponse.ts"
import { type BindError, isEverywhere, listen, urlOf } from "../http/listen.ts"
import * as RequestBody from "../http/RequestBody.ts"
import * as Access from "./Access.ts"
import { clientOf } from "./Audience.ts"
import { consumerIn } from "./consumers.ts"
import * as EventStream from "./EventStream.ts"
import {
  decode,
  decodeRoutes,
  type HttpTransportConfig,
  type HttpTransportOptions,
  type RoutesConfig
} from "./HttpTransportOptions.ts"
import * as mountedRoutes from "./mountedRoutes.ts"
import { reading } from "./pluginReading.ts"
import * as transportRoutes from "./routes.ts"
import { nothingDone } from "./statistics.ts"

export type { TransportStatistics } from "../../services/HttpTransport.ts"
export { HttpTransport, type RoutesConfig }

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
> => Layer.scoped(HttpTransport, make(options))

/** The same with options from the environment: `{ port: Config.integer("VITRINE_PORT") }`, for example. */
export const layerConfig = (
  options: Config.Config.Wrap<HttpTransportConfig>
): Layer.Layer<
  HttpTransport,
  ConfigError | InvalidOptions | BindError,
  EventBus | CommandBus | ReplayBacklog | ControllerState
> => Layer.scoped(HttpTransport, Effect.flatMap(Config.unwrap(options), make))

/** The same without a layer. It subscribes to the event bus before it waits for anything. */
export const make = Effect.fnUntraced(function* (config: HttpTransportConfig = {}) {
  const options = yield* decode(config)
  const { mode } = yield* ControllerState
  if (mode === "task") {
    return idle
  }

  yield* claimName(options.name)
  const eventStream = yield* EventStream.make(options)
  const access = Access.make(options)
  const server = yield* application.make({
    routes: yield* transportRoutes.make({
      options,
      events: eventsOf(eventStream, access, options.traceRequests),
      body: RequestBody.read
    }),
    refuse: access.refuse,
    headers: access.corsHeaders,
    preflight: access.preflight,
    answersHead: false,
    ...(options.traceRequests === true ? { untraced: ({ url }) => url.includes("?") } : {})
  })
  const address = yield* listen(server, { ...options, beforeDrain: eventStream.close })

  const url = urlOf(options.host, address.port)
  yield* Effect.logInfo(`HTTP transport on ${url}: event stream at ${url}/events, status at ${url}/status`)
  yield* report(eventStream, options, { url, ...(isEverywhere(options.host) ? { everywhere: true } : {}) })
  return serviceOf(eventStream, Option.some(address))
})

/** On the own port, all event streams share their bytes. The span of a request ends with its handler. */
const eventsOf = (
  { join, leave }: EventStream.EventStream,
  access: Access.Access,
  isTraced = false
): transportRoutes.RoutesContext["events"] =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const client = { ...clientOf(request.headers), consumer: consumerIn(request.originalUrl) }
    const response = yield* EventStreamResponse.open(
      request,
      { join: (sink) => join(sink, client), leave },
      access.corsHeaders(request)
    )
    if (isTraced) {
      yield* EventStreamResponse.ended(request)
    }
    return response
  })

/**
 * Adds the transport to the router of the environment, for a server of your own: one of the platform's, or
 * `HttpApp.toWebHandler`. In task mode nothing is added.
 *
 * Its end ends the event streams, so that they do not keep the server from closing. `HttpTransport` has no address.
 */
export const routes = (
  options: RoutesConfig = {}
): Layer.Layer<
  HttpTransport,
  InvalidOptions,
  HttpRouter.HttpRouter | EventBus | CommandBus | ReplayBacklog | ControllerState
> => Layer.scoped(HttpTransport, makeRoutes(options))

const makeRoutes = Effect.fnUntraced(function* (config: RoutesConfig) {
  const options = yield* decodeRoutes(config)
  const { mode } = yield* ControllerState
  if (mode === "task") {
    return idle
  }
  const { prefix } = options
  yield* claimName(options.name)
  const eventStream = yield* EventStream.make(options)
  yield* Effect.addFinalizer(() => eventStream.close)
  yield* mountedRoutes.add({ access: Access.make(options), eventStream, options, prefix })
  yield* report(eventStream, options, { path: prefix === "" ? "/" : prefix })
  return serviceOf(eventStream, Option.none())
})

const idle = HttpTransport.of({
  address: Option.none(),
  clients: Effect.succeed(0),
  statistics: Effect.succeed(nothingDone)
})

const serviceOf = ({ statistics }: EventStream.EventStream, address: Option.Option<AddressInfo>) =>
  HttpTransport.of({ address, clients: Effect.map(statistics, ({ clients }) => clients), statistics })

/** The names in use, by the state of their controller. */
const namesInUse = new WeakMap<typeof ControllerState.Service, Set<string>>()

/** Two transports with one name would have one slice of the state. */
const claimName = Effect.fnUntraced(function* (name: string) {
  const state = yield* ControllerState
  const names = namesInUse.get(state) ?? new Set()
  namesInUse.set(state, names)
  if (names.has(name)) {
    const message = `there is another transport called "${name}" already. Give each a name of its own.`
    return yield* new InvalidOptions({
      subject: "the options of the HTTP transport",
      issues: [{ path: "name", message }]
    })
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => names.add(name)),
    () => Effect.sync(() => names.delete(name))
  )
})

/** Where the transport is: at a URL, or at a path of somebody else's server. */
type Place = { readonly url: string; readonly everywhere?: boolean } | { readonly path: string }

/** Shows the transport in the state until the scope ends. */
const report = (
  { audience, changes, problem, statistics }: EventStream.EventStream,
  { maxClients, name }: Pick<HttpTransportOptions, "maxClients" | "name">,
  place: Place
) =>
  Effect.gen(function* () {
    const { addMomentary, addReading, updateSlice } = yield* ControllerState
    yield* addReading(name, reading(name))
    const connections = Effect.gen(function* () {
      const { clients } = yield* statistics
      return {
        kind: "http-transport",
        ...place,
        maxClients,
        clients,
        ...(yield* audience),
        ...Option.match(yield* problem, { onNone: () => ({}), onSome: (problem) => ({ problem }) })
      } as const
    })
    const updateState = Effect.flatMap(connections, (slice) => updateSlice(name, () => slice))
    yield* updateState
    yield* Effect.forkScoped(Stream.runForEach(changes, () => Effect.delay(updateState, stateEvery)))
    yield* addMomentary(
      name,
      Effect.zipWith(
        connections,
        statistics,
        (slice, { lastEvent, ...counts }): TransportState => ({
          ...slice,
          ...counts,
          ...Option.match(lastEvent, {
            onNone: () => ({}),
            onSome: ({ at, name }) => ({
              lastEvent: { name: printableLine(name, maxName), at: at.toISOString() }
            })
          })
        })
      )
    )
  })

/** How much of the name of an event is shown. */
const maxName = 100

/** How long clients may come and go before the state is changed. */
const stateEvery = "1 second"
