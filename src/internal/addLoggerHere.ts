import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as HashSet from "effect/HashSet"
import type * as Logger from "effect/Logger"

/** Adds a logger to your own program, for fibers that are forked from now on. */
export const addLoggerHere = (logger: Logger.Logger<unknown, void>) =>
  Effect.locallyScopedWith(FiberRef.currentLoggers, HashSet.add(logger))
