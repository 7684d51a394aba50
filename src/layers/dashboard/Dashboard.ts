/**
 * The dashboard: a live page with the state of the controller, and endpoints for monitoring.
 */

import type { AddressInfo } from "node:net"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { addLoggerHere, makeLogTail } from "../../internal/loggers.ts"
import { decodeOptions, type InvalidOptions, issuesOf } from "../../internal/Options.ts"
import type { CommandBus } from "../../services/CommandBus.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { EventBus } from "../../services/EventBus.ts"
import type { Plugin, PluginContext } from "../../services/Plugin.ts"
import * as Subscription from "../fanOut/Subscription.ts"
import * as Application from "../http/Application.ts"
import * as ConnectionLimit from "../http/ConnectionLimit.ts"
import { type BindError, listen, urlOf } from "../http/Listen.ts"
import * as Access from "./Access.ts"
import * as Actions from "./Actions.ts"
import { type DashboardConfig, DashboardOptions } from "./DashboardOptions.ts"
import { type DashboardState, pluginReport } from "./DashboardState.ts"
import * as Live from "./Live.ts"
import { setNodeInfo } from "./metrics.ts"
import { makeOverview } from "./overview.ts"
import * as Routes from "./Routes.ts"

export type { DashboardConfig }

const decode = decodeOptions("the options of the dashboard", DashboardOptions)

/**
 * The dashboard for other parts: where it listens.
 *
 * @since 0.1.0
 * @category tags
 */
export class Dashboard extends Context.Tag("vitrine/Dashboard")<
  Dashboard,
  {
    /** Where it listens; `None` in task mode. */
    readonly address: Option.Option<AddressInfo>
  }
>() {}

/**
 * The services that the dashboard needs.
 *
 * @since 0.1.0
 * @category models
 */
export type Environment = CommandBus | ControllerState | EventBus

/** The size of the log: lines, and characters per line. */
const maxLines = 200
const maxLength = 1000

/**
 * The dashboard with the given options. Options are validated in every mode; in task mode nothing is bound.
 *
 * It keeps the last 200 lines of the log in memory, and does nothing else while no page is open. It ends within two seconds,
 * and no client can delay it.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options: DashboardConfig = {}
): Layer.Layer<Dashboard, InvalidOptions | BindError, Environment> => Layer.scoped(Dashboard, make(options))

/**
 * As `layer`, with options from the environment: `{ token: Config.redacted("DASHBOARD_TOKEN") }`, for example.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<DashboardConfig>
): Layer.Layer<Dashboard, ConfigError | InvalidOptions | BindError, Environment> =>
  Layer.scoped(
    Dashboard,
    Effect.flatMap(Config.unwrap(options), (options) => make(options))
  )

/**
 * As `layer`, but without a layer.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  config: DashboardConfig = {}
): Effect.Effect<typeof Dashboard.Service, InvalidOptions | BindError, Environment | Scope.Scope> =>
  Effect.flatMap(decode(config), (options) => fromOptions(options))

/** `addLogger` belongs to the controller. */
const fromOptions = Effect.fnUntraced(function* (
  options: DashboardOptions,
  addLogger: PluginContext["addLogger"] = addLoggerHere
) {
  const { mode, register } = yield* ControllerState
  if (mode === "task") {
    return Dashboard.of({ address: Option.none() })
  }

  yield* setNodeInfo
  const access = Access.make(options)
  const changed = yield* Queue.sliding<void>(1)
  const log = makeLogTail({
    minimum: LogLevel.Info,
    maxLines,
    maxLength,
    changed: () => changed.unsafeOffer(undefined)
  })
  yield* addLogger(log.logger)

  const { feeds, problem } = yield* Subscription.make("The dashboard")
  const tell = Queue.offer(changed, undefined)
  yield* Stream.runForEach(feeds, ({ events }) =>
    Effect.zipRight(
      Stream.runForEachChunk(events, () => tell),
      tell
    )
  ).pipe(Effect.forkScoped)

  const data = Effect.all({
    overview: yield* makeOverview(access.actions),
    log: Effect.sync(log.lines)
  })
  const live = yield* Live.make({ data, changed, maxClients: options.maxClients })
  const server = yield* Application.make({
    routes: yield* Routes.make({ access, act: yield* Actions.make, live }),
    refuse: access.refuseReading,
    connections: ConnectionLimit.make(ConnectionLimit.maxConnections + options.maxClients),
    headers: () => Routes.everyResponse
  })
  const address = yield* listen(server, { ...options, beforeDrain: live.close })

  const url = urlOf(options.host, address.port)
  yield* Effect.logInfo(`Dashboard on ${url}: health at ${url}/healthz, metrics at ${url}/metrics`)
  const slice = Effect.map(
    problem,
    (problem): DashboardState => ({
      kind: "dashboard",
      url,
      pages: live.clients(),
      maxPages: options.maxClients,
      problem: Option.getOrUndefined(problem)
    })
  )
  yield* register({ name: "dashboard", live: slice, report: pluginReport("dashboard") })
  return Dashboard.of({ address: Option.some(address) })
})

/**
 * Shows the state of the controller on a page, and provides endpoints for monitoring.
 *
 * @since 0.1.0
 * @category constructors
 */
export const dashboard = (config: DashboardConfig = {}): Plugin => {
  const options = decode(config)
  return {
    name: "dashboard",
    issues: issuesOf(options),
    setup: ({ addLogger }) =>
      Effect.as(
        Effect.flatMap(options, (decoded) => fromOptions(decoded, addLogger)),
        Effect.void
      )
  }
}
