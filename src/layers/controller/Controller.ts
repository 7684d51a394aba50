/**
 * The controller: plugins set up in order, then made ready in order, shut down in reverse.
 *
 * It knows nothing of what a plugin does, and takes the services that plugins share from its environment:
 * `ControllerServices.layer` has them.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { monotonicMillis } from "../../internal/monotonicMillis.ts"
import { InvalidOptions, needsEffect3 } from "../../internal/Options.ts"
import type { PlacedIssue } from "../../internal/parseIssues.ts"
import {
  type Plugin,
  type PluginContext,
  type PluginEnvironment,
  PluginSetupFailed
} from "../../services/Plugin.ts"
import { makeAddLogger } from "./addedLoggers.ts"

/** The plugins, in the order in which they are set up, and the folder that their relative paths start from. */
export interface Configuration extends Pick<PluginContext, "cwd"> {
  readonly plugins: ReadonlyArray<Plugin>
}

/** Everything that is wrong with the configuration, or the plugin that could not be set up. */
export type StartError = InvalidOptions | PluginSetupFailed

/** What runs around the plugins of a persistent controller. */
export interface Hooks<E> {
  /**
   * Where others reach the controller, say: acquired before the plugins are set up, and released before they are shut
   * down. It gives what is done when somebody asks the controller to end.
   */
  readonly endpoint: Effect.Effect<Effect.Effect<void>, E, PluginEnvironment | Scope.Scope>
  /** Done when every plugin is ready. */
  readonly onReady: Effect.Effect<void>
}

const alone: Hooks<never> = { endpoint: Effect.succeed(Effect.never), onReady: Effect.void }

/**
 * Runs the controller until it is interrupted or asked to end, in services of mode `persistent`. Its end takes two
 * seconds at most.
 */
export const runPersistent = <E = never>(
  configuration: Configuration,
  { endpoint, onReady }: Hooks<E> = alone
): Effect.Effect<void, StartError | E, PluginEnvironment> =>
  Effect.gen(function* () {
    const pluginScope = yield* Effect.scope
    const context = { cwd: configuration.cwd, addLogger: yield* makeAddLogger }
    const end = yield* makeEnd
    yield* Effect.gen(function* () {
      const scope = yield* makeTimedScope("The controller's endpoint", end, reserved)
      const askedToEnd = yield* Scope.extend(endpoint, scope)
      yield* Scope.extend(start(configuration.plugins, context, end), pluginScope)
      yield* Effect.logInfo("Ready")
      yield* onReady
      yield* askedToEnd
      yield* Effect.logInfo("Stopping")
    }).pipe(
      Effect.onInterrupt(() => Effect.logInfo("Stopping")),
      Effect.scoped
    )
  }).pipe(Effect.scoped)

/** Sets everything up, carries the task out and ends, in services of mode `task`. */
export const runTask = <A, E, R = never>(
  configuration: Configuration,
  task: Effect.Effect<A, E, R>
): Effect.Effect<A, StartError | E, PluginEnvironment | Exclude<R, Scope.Scope>> =>
  Effect.gen(function* () {
    const context = { cwd: configuration.cwd, addLogger: yield* makeAddLogger }
    yield* start(configuration.plugins, context, yield* makeEnd)
    return yield* task
  }).pipe(Effect.scoped)

const start = Effect.fnUntraced(function* (
  plugins: ReadonlyArray<Plugin>,
  context: PluginContext,
  end: Effect.Effect<number>
) {
  const issues = [...plugins.flatMap(pluginIssues), ...plugins.flatMap(nameIssues)]
  if (issues.length > 0) {
    return yield* new InvalidOptions({ subject: "the configuration", issues })
  }
  const readies = yield* Effect.forEach(plugins, (plugin, index) =>
    setUp(plugin, context, end, (index / plugins.length) * reserved)
  )
  yield* Effect.forEach(readies, ({ name, ready }) =>
    Effect.catchAllCause(ready, (cause) =>
      Effect.logError(`The plugin "${name}" could not be made ready`, cause)
    )
  )
})

const pluginIssues = ({ issues, name }: Plugin, index: number): ReadonlyArray<PlacedIssue> =>
  issues.map(({ message, path }) => ({
    path: `plugins[${index}] (${name})${path === "" ? "" : `.${path}`}`,
    message
  }))

/** What the controller itself publishes in the state: a plugin of the same name would lose its slice. */
const ownSlices: ReadonlySet<string> = new Set(["alerts", "configuration", "mutes", "stop"])

const nameIssues = (
  { name }: Plugin,
  index: number,
  plugins: ReadonlyArray<Plugin>
): ReadonlyArray<PlacedIssue> => {
  const path = `plugins[${index}] (${name})`
  return [
    ...(ownSlices.has(name)
      ? [{ path, message: "the controller itself uses this name: give the plugin another one" }]
      : []),
    ...(plugins.findIndex((other) => other.name === name) < index
      ? [{ path, message: "the same plugin stands there twice" }]
      : [])
  ]
}

/** All that is shut down has this long together, in milliseconds; what is left then ends with the process. */
const shutdownLimit = 1800

/** The part of it that is reserved for the plugins while the endpoint is shut down, in milliseconds. */
const reserved = 200

/** Until when all has to be shut down, by the monotonic clock: the limit begins when that is asked for the first time. */
const makeEnd = Effect.cached(Effect.map(monotonicMillis, (now) => now + shutdownLimit))

/** A scope whose end is waited for as long as there is time, but for what is kept for those that end after it. */
const makeTimedScope = (what: string, end: Effect.Effect<number>, kept: number) =>
  Effect.acquireRelease(Scope.make(), (scope, exit) =>
    Effect.gen(function* () {
      const left = (yield* end) - (yield* monotonicMillis) - kept
      const closed = yield* Scope.close(scope, exit).pipe(
        Effect.disconnect,
        Effect.interruptible,
        Effect.timeoutOption(Math.max(left, 0))
      )
      if (Option.isNone(closed)) {
        yield* Effect.logWarning(`${what} did not shut down in time`)
      }
    })
  )

const setUp = Effect.fnUntraced(function* (
  { name, setup }: Plugin,
  context: PluginContext,
  end: Effect.Effect<number>,
  kept: number
) {
  const scope = yield* makeTimedScope(`The plugin "${name}"`, end, kept)
  const acquire = Effect.suspend(() => {
    const effect = setup(context)
    return Effect.isEffect(effect) ? effect : Effect.fail(needsEffect3("an Effect"))
  })
  const ready = yield* acquire.pipe(
    Scope.extend(scope),
    Effect.catchAllCause((cause) =>
      Cause.isInterruptedOnly(cause)
        ? Effect.interrupt
        : new PluginSetupFailed({ plugin: name, cause: Cause.squash(cause) })
    )
  )
  return { name, ready }
})
