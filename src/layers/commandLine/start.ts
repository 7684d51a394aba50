/**
 * `vitrine start`
 */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import { runPersistent } from "../controller/Controller.ts"
import { inFile, loadConfiguration, locateConfiguration } from "../controller/loadConfiguration.ts"
import { logTo } from "../terminal/log.ts"
import { configOption, envFileOption, logFormatOption } from "./commonOptions.ts"
import { loadEnvironment } from "./loadEnvironment.ts"

/** `library` is what configurations import as `vitrine`. */
export const makeStart = (library: object) =>
  Command.make(
    "start",
    { config: configOption, envFile: envFileOption, logFormat: logFormatOption },
    ({ config, envFile, logFormat }) =>
      Effect.gen(function* () {
        yield* loadEnvironment(envFile)
        const configuration = yield* loadConfiguration(yield* locateConfiguration(config), library)
        yield* Effect.logInfo(`Starting with ${configuration.file}`)
        return yield* Effect.mapError(runPersistent(configuration), inFile(configuration.file))
      }).pipe(logTo({ format: logFormat, write: console.error }))
  ).pipe(Command.withDescription("Run the controller in the foreground, until Ctrl-C or SIGTERM."))
