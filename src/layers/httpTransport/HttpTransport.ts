/**
 * The HTTP/SSE transport: the command bus and the event bus over loopback HTTP and Server-Sent Events, for
 * clients that cannot open a Unix socket (docs/wire.md, sections 1 and 4).
 */
import type { AddressInfo } from "node:net"
import type * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { closedIfFailed } from "../../internal/background.ts"
import { InvalidOptions, issuesOf, issueText } from "../../internal/Options.ts"
import { printableLine } from "../../internal/printable.ts"
import type { CommandBus } from "../../services/CommandBus.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { EventBus } from "../../services/EventBus.ts"
import type { Plugin } from "../../services/Plugin.ts"
import type { ReplayBacklog } from "../../services/ReplayBacklog.ts"
import type { TransportState } from "../../services/Slices.ts"
import * as Application from "../http/Application.ts"
import * as ConnectionLimit from "../http/ConnectionLimit.ts"
import * as EventStreamResponse from "../http/EventStreamResponse.ts"
import { type BindError, isEverywhere, listen, urlOf } from "../http/Listen.ts"
import * as RequestBody from "../http/RequestBody.ts"
import * as Access from "./Access.ts"
import { clientOf } from "./Clients.ts"
import { unsendable } from "./EventEncoder.ts"
import * as EventStream from "./EventStream.ts"
import {
  decode,
  decodeRoutes,
  defaultName,
  type HttpTransportConfig,
  type HttpTransportOptions,
  type RoutesConfig,
  type RoutesOptions,
  withoutEffect
} from "./HttpTransportOptions.ts"
import * as MountedRoutes from "./MountedRoutes.ts"
import { pluginReport } from "./pluginReport.ts"
import * as TransportRoutes from "./Routes.ts"
import { makeRecorder, type TransportStatistics } from "./statistics.ts"

/**
 * The services that a transport needs.
 *
 * @since 0.1.0
 * @category models
 */
export type Environment = EventBus | CommandBus | ReplayBacklog | ControllerState

/**
 * The transport for other parts: where it listens, and its statistics.
 *
 * @since 0.1.0
 * @category tags
 */
export class HttpTransport extends Context.Tag("vitrine/HttpTransport")<
  HttpTransport,
  {
    /** Where it listens; `None` in task mode, and on a server of somebody else. */
    readonly address: Option.Option<AddressInfo>

    /** How many event streams are open now. */
    readonly clients: Effect.Effect<number>

    /** Counts since its start. */
    readonly statistics: Effect.Effect<TransportStatistics>
  }
>() {}

export type { RoutesConfig, TransportStatistics }

/**
 * The transport, provided as a Layer to an Effect-based controller. Options are validated in every mode; in task mode
 * nothing is bound.
 *
 * It ends within two seconds, and no client can delay it.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options: HttpTransportConfig = {}
): Layer.Layer<HttpTransport, InvalidOptions | BindError, Environment> =>
  Layer.scoped(HttpTransport, make(options))

/**
 * As `layer`, with options from the environment: `{ port: Config.integer("VITRINE_PORT") }`, for example.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<HttpTransportConfig>
): Layer.Layer<HttpTransport, ConfigError | InvalidOptions | BindError, Environment> =>
  Layer.scoped(HttpTransport, Effect.flatMap(Config.unwrap(options), make))

/**
 * As `layer`, but without a layer. It subscribes to the event bus before it waits for anything. After a failure it can be
 * called again.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  config: HttpTransportConfig = {}
): Effect.Effect<typeof HttpTransport.Service, InvalidOptions | BindError, Environment | Scope.Scope> =>
  Effect.flatMap(decode(config), (options) => closedIfFailed(fromOptions(options)))

const fromOptions = (options: HttpTransportOptions) =>
  start(options, EventStream.makeSockets, (eventStream, access) =>
    Effect.gen(function* () {
      const server = yield* Application.make({
        routes: yield* TransportRoutes.make({
          options,
          events: eventsOf(eventStream, access, options.traceRequests),
          body: RequestBody.read
        }),
        refuse: access.refuse,
        headers: access.corsHeaders,
        preflight: access.preflight,
        connections: ConnectionLimit.make(ConnectionLimit.maxConnections + options.maxClients),
        answersHead: false,
        untraced: options.traceRequests === true ? ({ url }) => url.includes("?") : undefined
      })
      const address = yield* listen(server, { ...options, beforeDrain: eventStream.close })
      const url = urlOf(options.host, address.port)
      yield* Effect.logInfo(
        `HTTP transport on ${url}: event stream at ${url}/events, status at ${url}/status`
      )
      return {
        address: Option.some(address),
        place: { url, everywhere: isEverywhere(options.host) || undefined }
      }
    })
  )

/** Answers with the event stream over the socket of the request. The span of a request ends with its handler. */
const eventsOf = (
  { join, leave }: EventStream.Sockets,
  access: Access.Access,
  isTraced = false
): TransportRoutes.RoutesContext["events"] =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const client = clientOf(request)
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
 * Adds the transport to the router of the environment, for your own server: a server of the platform, or
 * `HttpLayerRouter.toWebHandler`. In task mode nothing is added.
 *
 * When the layer ends, its event streams end, so that the server can close. `HttpTransport` has no address.
 *
 * @since 0.1.0
 * @category layers
 */
export const routes = (
  options: RoutesConfig = {}
): Layer.Layer<HttpTransport, InvalidOptions, HttpLayerRouter.HttpRouter | Environment> =>
  Layer.scoped(HttpTransport, addRoutes(options))

/**
 * As `routes`, with options from the environment.
 *
 * @since 0.1.0
 * @category layers
 */
export const routesConfig = (
  options: Config.Config.Wrap<RoutesConfig>
): Layer.Layer<HttpTransport, ConfigError | InvalidOptions, HttpLayerRouter.HttpRouter | Environment> =>
  Layer.scoped(HttpTransport, Effect.flatMap(Config.unwrap(options), addRoutes))

const addRoutes = (options: RoutesConfig) =>
  Effect.flatMap(decodeRoutes(options), ({ prefix, ...options }) =>
    start(options, EventStream.makeStreams, (eventStream, access) =>
      Effect.addFinalizer(() => eventStream.close).pipe(
        Effect.zipRight(MountedRoutes.add({ access, eventStream, options, prefix })),
        Effect.as({ address: Option.none(), place: { path: prefix === "" ? "/" : prefix } })
      )
    )
  )

/** Where the transport is. */
interface Opened {
  readonly address: Option.Option<AddressInfo>
  /** For the state: the URL, or the path on another server. */
  readonly place: Pick<TransportState, "everywhere" | "path" | "url">
}

/** Starts the event stream and opens it to clients. Does nothing in task mode. */
const start = Effect.fnUntraced(function* <A extends EventStream.EventStream, R1, E, R2>(
  options: Omit<RoutesOptions, "prefix">,
  makeEventStream: (options: EventStream.Options) => Effect.Effect<A, never, R1>,
  open: (eventStream: A, access: Access.Access) => Effect.Effect<Opened, E, R2>
) {
  const { mode } = yield* ControllerState
  if (mode === "task") {
    return HttpTransport.of({
      address: Option.none(),
      clients: Effect.succeed(0),
      statistics: Effect.sync(makeRecorder(options.name).statistics)
    })
  }
  yield* claimName(options.name)
  const eventStream = yield* makeEventStream({
    ...options,
    unsendable,
    subject: "The HTTP transport",
    makeRecorder: (now) => makeRecorder(options.name, now)
  })
  const { address, place } = yield* open(eventStream, Access.make(options))
  const unused = withoutEffect(options)
  if (unused.length > 0) {
    yield* Effect.logWarning(`Some options of the HTTP transport have no effect: ${issueText(unused)}`)
  }
  yield* report(eventStream, options, {
    ...place,
    unused: unused.length > 0 ? printableLine(issueText(unused), maxUnused) : undefined
  })
  const { statistics } = eventStream
  return HttpTransport.of({ address, clients: Effect.map(statistics, ({ clients }) => clients), statistics })
})

/**
 * The names in use, for each controller state. A module variable, because transports that are built separately share only
 * their services, and the user may have made these. A name is free again when its transport ends.
 */
const namesInUse = new WeakMap<typeof ControllerState.Service, Set<string>>()

/** Two transports with the same name would overwrite each other's slice of the state. */
const claimName = (name: string) =>
  Effect.flatMap(ControllerState, (state) =>
    Effect.acquireRelease(
      Effect.suspend(() => {
        const names = namesInUse.get(state) ?? new Set()
        namesInUse.set(state, names)
        if (names.has(name)) {
          const message = `another transport is called "${name}" already. Give each transport its own name.`
          return new InvalidOptions({
            subject: "the options of the HTTP transport",
            issues: [{ path: "name", message }]
          })
        }
        return Effect.succeed(names.add(name))
      }),
      (names) => Effect.sync(() => names.delete(name))
    )
  )

/** Shows the transport in the state until the scope ends. */
const report = Effect.fnUntraced(function* (
  { changes, clientState, problem, statistics }: EventStream.EventStream,
  { maxClients, name }: Pick<HttpTransportOptions, "maxClients" | "name">,
  place: Opened["place"] & Pick<TransportState, "unused">
) {
  const { register } = yield* ControllerState
  const slice = Effect.gen(function* () {
    const { lastEvent, lastMissed, ...counts } = yield* statistics
    const reason = yield* problem
    return {
      kind: "http-transport",
      ...place,
      maxClients,
      ...counts,
      ...(yield* clientState),
      problem: Option.getOrUndefined(reason),
      lastMissed: Option.getOrUndefined(lastMissed)?.toISOString(),
      lastEvent: Option.getOrUndefined(
        Option.map(lastEvent, ({ at, name }) => ({
          name: printableLine(name, maxName),
          at: at.toISOString()
        }))
      )
    } satisfies TransportState
  })
  const { update } = yield* register<TransportState>({
    name,
    slice: yield* slice,
    live: slice,
    report: pluginReport(name)
  })
  const updateState = Effect.flatMap(slice, (slice) => update(() => slice))
  yield* Effect.forkScoped(Stream.runForEach(changes, () => Effect.delay(updateState, stateEvery)))
})

/** How many characters of the name of an event the state has. */
const maxName = 100

/** How many characters about options without effect the state has. */
const maxUnused = 1000

/** How long changes of clients are collected before the state is updated. */
const stateEvery = "1 second"

/**
 * Exposes the command bus and the event bus over loopback HTTP and Server-Sent Events.
 *
 * @since 0.1.0
 * @category constructors
 */
export const httpTransport = (config: HttpTransportConfig = {}): Plugin => {
  const options = decode(config)
  return {
    name: config.name ?? defaultName,
    issues: issuesOf(options),
    setup: () => Effect.as(Effect.flatMap(options, fromOptions), Effect.void)
  }
}
