/**
 * The controller: plugins set up in order, then made ready in order, shut down in reverse.
 *
 * It knows nothing of what a plugin does, and takes the services that plugins share from its environment:
 * `ControllerServices.layer` has them.
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Scope from "effect/Scope"
import { monotonicMillis } from "../../internal/monotonicMillis.ts"
import { InvalidOptions, needsEffect3 } from "../../internal/Options.ts"
import type { PlacedIssue } from "../../internal/ParseIssues.ts"
import {
  type Plugin,
  type PluginContext,
  type PluginEnvironment,
  PluginSetupFailed
} from "../../services/Plugin.ts"
import * as AddedLoggers from "./addedLoggers.ts"

/** The plugins, in the order in which they are set up, and the folder that their relative paths start from. */
export interface Configuration extends Pick<PluginContext, "cwd"> {
  readonly plugins: ReadonlyArray<Plugin>
}

/** Everything that is wrong with the configuration, or the plugin that could not be set up. */
export type StartError = InvalidOptions | PluginSetupFailed

/** What goes on around the plugins of a persistent controller. */
export interface Hooks<E> {
  /**
   * Acquired before the plugins are, and released after them: where others reach the controller, say. It gives
   * what is done when somebody asks the controller to end.
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
  Effect.suspend(() => {
    const loggers = AddedLoggers.make()
    return Effect.gen(function* () {
      const askedToEnd = yield* endpoint
      yield* start(configuration, loggers)
      yield* Effect.logInfo("Ready")
      yield* onReady
      yield* askedToEnd
      yield* Effect.logInfo("Stopping")
    }).pipe(
      Effect.onInterrupt(() => Effect.logInfo("Stopping")),
      Effect.scoped,
      loggers.logTo
    )
  })

/** Sets everything up, carries the task out and ends, in services of mode `task`. */
export const runTask = <A, E, R = never>(
  configuration: Configuration,
  task: Effect.Effect<A, E, R>
): Effect.Effect<A, StartError | E, PluginEnvironment | Exclude<R, Scope.Scope>> =>
  Effect.suspend(() => {
    const loggers = AddedLoggers.make()
    return Effect.scoped(Effect.zipRight(start(configuration, loggers), task)).pipe(loggers.logTo)
  })

const start = Effect.fnUntraced(function* (
  { cwd, plugins }: Configuration,
  { addLogger }: AddedLoggers.AddedLoggers
) {
  const issues = [...plugins.flatMap(pluginIssues), ...duplicateNames(plugins)]
  if (issues.length > 0) {
    return yield* new InvalidOptions({ subject: "the configuration", issues })
  }
  const shutdownTime = yield* makeShutdownTime
  const readies = yield* Effect.forEach(plugins, (plugin, index) =>
    setUp(plugin, { cwd, addLogger }, shutdownTime(index))
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

const duplicateNames = (plugins: ReadonlyArray<Plugin>): ReadonlyArray<PlacedIssue> =>
  plugins.flatMap(({ name }, index) =>
    plugins.findIndex((other) => other.name === name) < index
      ? [{ path: `plugins[${index}] (${name})`, message: "the same plugin stands there twice" }]
      : []
  )

/** All plugins together have this long to shut down, in milliseconds; what is left then ends with the process. */
const shutdownLimit = 1800

/** Of that, each plugin that is still to be shut down has so long. */
const reserved = 100

/** What a plugin may take of it, by how many are shut down after it: all that is left but what is reserved for those. */
const makeShutdownTime = Effect.map(
  Ref.make(Option.none<number>()),
  (end) => (later: number) =>
    Effect.gen(function* () {
      const now = yield* monotonicMillis
      const endsAt = yield* Ref.modify(end, (known) => {
        const endsAt = Option.getOrElse(known, () => now + shutdownLimit)
        return [endsAt, Option.some(endsAt)]
      })
      return Duration.millis(Math.max(endsAt - now - later * reserved, 0))
    })
)

/** Sets a plugin up in a scope of its own, whose end the others do not wait for any longer. */
const setUp = Effect.fnUntraced(function* (
  { name, setup }: Plugin,
  context: PluginContext,
  shutdownTime: Effect.Effect<Duration.Duration>
) {
  const scope = yield* Effect.acquireRelease(Scope.make(), (scope, exit) =>
    Effect.flatMap(shutdownTime, (duration) =>
      Scope.close(scope, exit).pipe(
        Effect.disconnect,
        Effect.interruptible,
        Effect.timeoutTo({
          duration,
          onSuccess: () => Effect.void,
          onTimeout: () => Effect.logWarning(`The plugin "${name}" did not shut down in time`)
        }),
        Effect.flatten
      )
    )
  )
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
