/**
 * Runs plugins: sets them up in order, makes them ready in order, and shuts them down in reverse.
 *
 * Knows nothing about the work of a plugin. Takes the services that plugins share from its environment;
 * `ControllerServices.layer` makes them.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import * as HashSet from "effect/HashSet"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { endWithin } from "../../internal/background.ts"
import { monotonicMillis } from "../../internal/monotonicMillis.ts"
import { InvalidOptions, needsEffect3, type PlacedIssue } from "../../internal/Options.ts"
import {
  type Plugin,
  type PluginContext,
  type PluginEnvironment,
  PluginSetupFailed
} from "../../services/Plugin.ts"

/**
 * The plugins in the order of their setup, and the folder that relative paths start from.
 *
 * @since 0.1.0
 * @category models
 */
export interface Configuration extends Pick<PluginContext, "cwd"> {
  readonly plugins: ReadonlyArray<Plugin>
}

/**
 * All mistakes in the configuration, or the plugin whose setup failed.
 *
 * @since 0.1.0
 * @category models
 */
export type StartError = InvalidOptions | PluginSetupFailed

/**
 * The parts of a persistent controller that run beside its plugins.
 *
 * @since 0.1.0
 * @category models
 */
export interface Hooks<E> {
  /**
   * For example the socket at which others reach the controller. Acquired before the setup of the plugins, and released
   * before their shutdown. Gives an effect that runs when somebody asks the controller to stop.
   */
  readonly endpoint: Effect.Effect<Effect.Effect<void>, E, PluginEnvironment | Scope.Scope>
  /** Runs when every plugin is ready. */
  readonly onReady: Effect.Effect<void>
}

const alone: Hooks<never> = { endpoint: Effect.succeed(Effect.never), onReady: Effect.void }

/**
 * Runs the controller in services of mode `persistent`, until it is interrupted or asked to stop. The shutdown takes
 * two seconds at most.
 *
 * @since 0.1.0
 * @category utils
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
      const running = yield* Scope.extend(start(configuration.plugins, context, end), pluginScope).pipe(
        Effect.zipRight(Effect.logInfo("Ready")),
        Effect.zipRight(onReady),
        Effect.zipRight(Effect.never),
        Effect.forkIn(yield* makeTimedScope("The start of the plugins", end, reserved))
      )
      // biome-ignore lint/plugin: both only wait; the scope ends the plugins' start, within its limit
      yield* Effect.raceFirst(askedToEnd, Fiber.join(running))
      yield* Effect.logInfo("Stopping")
    }).pipe(
      Effect.onInterrupt(() => Effect.logInfo("Stopping")),
      Effect.scoped
    )
  }).pipe(Effect.scoped)

/**
 * Sets up all plugins, runs the task and shuts down, in services of mode `task`.
 *
 * @since 0.1.0
 * @category utils
 */
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

/** Slices of the controller itself: a plugin of the same name would overwrite its slice. */
const ownSlices: ReadonlySet<string> = new Set(["alerts", "configuration", "mutes", "stop"])

const nameIssues = (
  { name }: Plugin,
  index: number,
  plugins: ReadonlyArray<Plugin>
): ReadonlyArray<PlacedIssue> => {
  const path = `plugins[${index}] (${name})`
  return [
    ...(ownSlices.has(name)
      ? [{ path, message: "the controller itself uses this name: give the plugin another name" }]
      : []),
    ...(plugins.findIndex((other) => other.name === name) < index
      ? [{ path, message: "the same plugin is in the list twice" }]
      : [])
  ]
}

/** The time for the whole shutdown, in milliseconds. Whatever still runs then ends with the process. */
const shutdownLimit = 1800

/** The part of this time that the shutdown of the endpoint leaves to the plugins, in milliseconds. */
const reserved = 200

/** When the shutdown must be complete, in monotonic milliseconds. The limit begins with the first call. */
const makeEnd = Effect.cached(Effect.map(monotonicMillis, (now) => now + shutdownLimit))

/** A scope whose shutdown is awaited until the end, minus the time kept for scopes that close after it. */
const makeTimedScope = (what: string, end: Effect.Effect<number>, kept: number) =>
  Effect.acquireRelease(Scope.make(), (scope, exit) =>
    Effect.gen(function* () {
      const remaining = (yield* end) - (yield* monotonicMillis) - kept
      const closed = yield* endWithin(Math.max(remaining, 0))(Scope.close(scope, exit))
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

/**
 * Passes all logs to the loggers that plugins add, until the scope ends. A forked fiber keeps the loggers of its parent,
 * so that a logger added later would miss the logs of plugins set up before: the whole controller logs to this one.
 */
const makeAddLogger: Effect.Effect<PluginContext["addLogger"], never, Scope.Scope> = Effect.gen(function* () {
  const added = new Set<Logger.Logger<unknown, void>>()
  const all = Logger.make<unknown, void>((event) => {
    for (const logger of added) {
      logger.log(event)
    }
  })
  yield* Effect.locallyScopedWith(FiberRef.currentLoggers, HashSet.add(all))
  return (logger) =>
    Effect.acquireRelease(
      Effect.sync(() => added.add(logger)),
      () => Effect.sync(() => added.delete(logger))
    )
})
