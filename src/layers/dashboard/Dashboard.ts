/**
 * The dashboard: what the controller reports, on a page that follows it, and for monitoring.
 */
import * as Chunk from "effect/Chunk"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { addLoggerHere } from "../../internal/loggers.ts"
import type { InvalidOptions } from "../../internal/Options.ts"
import type { CommandBus } from "../../services/CommandBus.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import { Dashboard } from "../../services/Dashboard.ts"
import type { EventBus } from "../../services/EventBus.ts"
import type { PluginContext } from "../../services/Plugin.ts"
import * as Subscription from "../fanOut/Subscription.ts"
import * as application from "../http/application.ts"
import * as ConnectionLimit from "../http/connectionLimit.ts"
import { type BindError, listen, urlOf } from "../http/listen.ts"
import * as Access from "./access.ts"
import * as Actions from "./actions.ts"
import { type DashboardConfig, decode, rulesOf } from "./DashboardOptions.ts"
import { type DashboardState, reading } from "./DashboardState.ts"
import * as FetchHistory from "./fetchHistory.ts"
import * as Live from "./live.ts"
import { makeLogTail } from "./logTail.ts"
import { setNodeInfo } from "./nodeInfo.ts"
import { makeOverview } from "./overview.ts"
import * as routes from "./routes.ts"

export { Dashboard }

/** What the dashboard needs. */
export type Environment = CommandBus | ControllerState | EventBus

/** Beside the event streams, of which each has one. */
const otherConnections = 64

/**
 * The dashboard with the given options. Options are validated in every mode; in task mode nothing is bound.
 *
 * It keeps the last 200 fetches and the last 200 lines of the log in memory, and without open pages does nothing but take note
 * of these. It ends within two seconds whatever its clients do.
 */
export const layer = (
  options: DashboardConfig = {}
): Layer.Layer<Dashboard, InvalidOptions | BindError, Environment> => Layer.scoped(Dashboard, make(options))

/** The same with options from the environment: `{ token: Config.redacted("DASHBOARD_TOKEN") }`, for example. */
export const layerConfig = (
  options: Config.Config.Wrap<DashboardConfig>
): Layer.Layer<Dashboard, ConfigError | InvalidOptions | BindError, Environment> =>
  Layer.scoped(
    Dashboard,
    Effect.flatMap(Config.unwrap(options), (options) => make(options))
  )

/** The same without a layer. `addLogger` is that of the controller. */
export const make = Effect.fnUntraced(function* (
  config: DashboardConfig = {},
  addLogger: PluginContext["addLogger"] = addLoggerHere
) {
  const options = yield* decode(config)
  const { addMomentary, addReading, mode } = yield* ControllerState
  if (mode === "task") {
    return Dashboard.of({ address: Option.none() })
  }

  yield* setNodeInfo
  const access = Access.make(options)
  const rules = rulesOf(options)
  const wake = yield* Queue.sliding<void>(1)
  const changed = () => void wake.unsafeOffer()
  const log = makeLogTail(changed)
  yield* addLogger(log.logger)

  let history: FetchHistory.FetchHistory = []
  const live = yield* Live.make(
    { overview: yield* makeOverview(access.actions), fetches: () => history, log: log.lines },
    wake,
    options.maxClients
  )
  const { feeds, problem } = yield* Subscription.make("The dashboard")
  yield* Stream.runForEach(feeds, ({ events }) =>
    Effect.andThen(
      Stream.runForEachChunk(events, (events) =>
        Effect.sync(() => {
          history = Chunk.reduce(events, history, FetchHistory.advance)
          changed()
        })
      ),
      changed
    )
  ).pipe(Effect.forkScoped)

  const server = yield* application.make({
    routes: yield* routes.make({
      access,
      act: yield* Actions.make,
      live
    }),
    refuse: access.refuseReading,
    connections: ConnectionLimit.make(options.maxClients + otherConnections),
    headers: () => routes.everyResponse
  })
  const address = yield* listen(server, { ...options, beforeDrain: live.close })

  const url = urlOf(options.host, address.port)
  yield* Effect.logInfo(`Dashboard on ${url}: health at ${url}/healthz, metrics at ${url}/metrics`)
  const slice = Effect.map(
    problem,
    (problem): DashboardState => ({
      kind: "dashboard",
      url,
      rules,
      pages: live.clients(),
      maxPages: options.maxClients,
      ...Option.match(problem, { onNone: () => ({}), onSome: (problem) => ({ problem }) })
    })
  )
  yield* addReading("dashboard", reading("dashboard"))
  yield* addMomentary("dashboard", slice)
  return Dashboard.of({ address: Option.some(address) })
})
