/**
 * Loggers that plugins add while the controller runs.
 *
 * A fiber takes its loggers along when it is forked, so that one which is added later would miss what plugins log that were
 * set up before. Here, all of the controller logs to one logger, which hands it to those that are there.
 */
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as HashSet from "effect/HashSet"
import * as Logger from "effect/Logger"
import type * as Scope from "effect/Scope"
import type { PluginContext } from "../../services/Plugin.ts"

/** Until the scope ends, what is logged goes to the loggers that are added, too. */
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
