/**
 * Loggers that plugins add while the controller runs.
 *
 * A forked fiber keeps the loggers of its parent, so that a logger added later would miss the logs of plugins set up
 * before. Here, the whole controller logs to one logger, which passes the logs on to the added ones.
 */
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as HashSet from "effect/HashSet"
import * as Logger from "effect/Logger"
import type * as Scope from "effect/Scope"
import type { PluginContext } from "../../services/Plugin.ts"

/** Passes all logs to the added loggers too, until the scope ends. */
export const makeAddLogger: Effect.Effect<PluginContext["addLogger"], never, Scope.Scope> = Effect.gen(
  function* () {
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
  }
)
