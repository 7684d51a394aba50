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
import type { PluginContext } from "../../services/Plugin.ts"

export interface AddedLoggers extends Pick<PluginContext, "addLogger"> {
  /** What the effect logs goes to the loggers that are added, beside those that it goes to anyway. */
  readonly logTo: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

export const make = (): AddedLoggers => {
  const added = new Set<Logger.Logger<unknown, void>>()
  const all = Logger.make<unknown, void>((event) => {
    for (const logger of added) {
      logger.log(event)
    }
  })
  return {
    addLogger: (logger) =>
      Effect.acquireRelease(
        Effect.sync(() => added.add(logger)),
        () => Effect.sync(() => added.delete(logger))
      ),
    logTo: Effect.locallyWith(FiberRef.currentLoggers, HashSet.add(all))
  }
}
