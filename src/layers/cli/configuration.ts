/**
 * The configuration of the commands that run it: where it is, what is in it, and that it stays private.
 */
import * as Effect from "effect/Effect"
import { withPrivate } from "../../internal/privateFiles.ts"
import { loadConfiguration } from "../controller/loadConfiguration.ts"
import { locateConfiguration } from "../controller/locateConfiguration.ts"
import { loadEnvironment } from "./loadEnvironment.ts"
import type { Options } from "./options.ts"
import { withoutSignalHandlers } from "./processExit.ts"
import { VitrineModule } from "./VitrineModule.ts"

/** The absolute path of the file, once the environment file has been read. */
export const locate = ({ config, envFile }: Options) =>
  Effect.zipRight(loadEnvironment(envFile), locateConfiguration(config))

/** Loads the file with this Vitrine as its `vitrine`; with `again`, also if it was loaded before. */
export const load = Effect.fnUntraced(function* (file: string, again = false) {
  const library = yield* Effect.flatten(VitrineModule)
  return yield* withoutSignalHandlers(loadConfiguration(file, library, again))
})

/** While the effect runs, no folder is shown to everybody that has the configuration or its environment in it. */
export const keepPrivate = (file: string, { envFile }: Options) =>
  withPrivate(file, ...(envFile === undefined ? [] : [envFile]))
