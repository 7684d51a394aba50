/**
 * `vitrine start`
 */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import { runPersistent } from "../controller/Controller.ts"
import { inFile, loadConfiguration, locateConfiguration } from "../controller/loadConfiguration.ts"
import { configOption } from "./configOption.ts"

/** `library` is what configurations import as `vitrine`. */
export const makeStart = (library: object) =>
  Command.make("start", { config: configOption }, ({ config }) =>
    Effect.gen(function* () {
      const configuration = yield* loadConfiguration(yield* locateConfiguration(config), library)
      yield* Effect.logInfo(`Starting with ${configuration.file}`)
      return yield* Effect.mapError(runPersistent(configuration), inFile(configuration.file))
    })
  ).pipe(Command.withDescription("Run the controller in the foreground, until Ctrl-C or SIGTERM."))
