/**
 * The controller: plugins set up in order, then made ready in order, shut down in reverse (decisions, part D).
 *
 * It knows nothing of what a plugin does.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Path from "@effect/platform/Path"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { needsEffect3 } from "../../internal/needsEffect3.ts"
import { InvalidOptions } from "../../internal/Options.ts"
import type { PlacedIssue } from "../../internal/ParseIssues.ts"
import type { CommandBus } from "../../services/CommandBus.ts"
import type { ControllerState, Mode } from "../../services/ControllerState.ts"
import type { EventBus } from "../../services/EventBus.ts"
import { type Plugin, type PluginContext, PluginSetupFailed } from "../../services/Plugin.ts"
import * as CommandBusMemory from "../memory/CommandBusMemory.ts"
import * as ControllerStateMemory from "../memory/ControllerStateMemory.ts"
import * as EventBusMemory from "../memory/EventBusMemory.ts"

export interface Configuration extends PluginContext {
  readonly plugins: ReadonlyArray<Plugin>
}

/** Everything that is wrong with the configuration, or the plugin that could not be set up. */
export type StartError = InvalidOptions | PluginSetupFailed

type ControllerServices = EventBus | CommandBus | ControllerState

type Platform = FileSystem.FileSystem | Path.Path | HttpClient.HttpClient

/** What goes on around the plugins of a persistent controller. */
export interface Hooks<E> {
  /**
   * Acquired before the plugins are, and released after them: where others reach the controller, say. It gives
   * what is done when somebody asks the controller to end.
   */
  readonly endpoint: Effect.Effect<Effect.Effect<void>, E, ControllerServices | Platform | Scope.Scope>
  /** Done when every plugin is ready. */
  readonly onReady: Effect.Effect<void>
}

const alone: Hooks<never> = { endpoint: Effect.succeed(Effect.never), onReady: Effect.void }

/** Runs the controller until it is interrupted or asked to end. Its end takes two seconds at most. */
export const runPersistent = <E = never>(
  configuration: Configuration,
  { endpoint, onReady }: Hooks<E> = alone
): Effect.Effect<void, StartError | E, Platform> =>
  Effect.gen(function* () {
    const askedToEnd = yield* endpoint
    yield* start(configuration)
    yield* Effect.logInfo("Ready")
    yield* onReady
    yield* askedToEnd
    yield* Effect.logInfo("Stopping")
  }).pipe(
    Effect.onInterrupt(() => Effect.logInfo("Stopping")),
    inController("persistent")
  )

/** Sets everything up, carries the task out and ends. */
export const runTask = <A, E>(
  configuration: Configuration,
  task: Effect.Effect<A, E, CommandBus | EventBus | Scope.Scope>
): Effect.Effect<A, StartError | E, Platform> =>
  Effect.zipRight(start(configuration), task).pipe(inController("task"))

const start = Effect.fnUntraced(function* ({ plugins, ...context }: Configuration) {
  const issues = [...plugins.flatMap(pluginIssues), ...duplicateNames(plugins)]
  if (issues.length > 0) {
    return yield* new InvalidOptions({ subject: "the configuration", issues })
  }
  const shutdownShare = Duration.divide(shutdownLimit, plugins.length).pipe(
    Option.getOrElse(() => shutdownLimit)
  )
  const readies = yield* Effect.forEach(plugins, (plugin) => setUp(plugin, context, shutdownShare))
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

/** All plugins together have this long to shut down; what is left then ends with the process. */
const shutdownLimit = Duration.millis(1800)

/** Sets a plugin up in a scope of its own, whose end the others do not wait for longer than its share. */
const setUp = Effect.fnUntraced(function* (
  { name, setup }: Plugin,
  context: PluginContext,
  shutdownShare: Duration.Duration
) {
  const scope = yield* Effect.acquireRelease(Scope.make(), (scope, exit) =>
    Scope.close(scope, exit).pipe(
      Effect.disconnect,
      Effect.interruptible,
      Effect.timeoutTo({
        duration: shutdownShare,
        onSuccess: () => Effect.void,
        onTimeout: () => Effect.logWarning(`The plugin "${name}" did not shut down in time`)
      }),
      Effect.flatten
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

const inController =
  (mode: Mode) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.provide(
      Effect.scoped(effect),
      Layer.mergeAll(EventBusMemory.layer, CommandBusMemory.layer, ControllerStateMemory.layer(mode))
    )
