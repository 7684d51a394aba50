/**
 * `vitrine fetch`
 */
import * as Command from "@effect/cli/Command"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { CommandBus } from "../../services/CommandBus.ts"
import { EventBus } from "../../services/EventBus.ts"
import { type Configuration, runTask } from "../controller/Controller.ts"
import { inFile, loadConfiguration, locateConfiguration } from "../controller/loadConfiguration.ts"
import { type LogFormat, logTo } from "../terminal/log.ts"
import { makeProgressDisplay, withProgress } from "../terminal/ProgressDisplay.ts"
import { configOption, envFileOption, logFormatOption } from "./commonOptions.ts"
import { loadEnvironment } from "./loadEnvironment.ts"

/** `library` is what configurations import as `vitrine`. */
export const makeFetch = (library: object) =>
  Command.make(
    "fetch",
    { config: configOption, envFile: envFileOption, logFormat: logFormatOption },
    ({ config, envFile, logFormat }) =>
      Effect.gen(function* () {
        yield* loadEnvironment(envFile)
        const configuration = yield* loadConfiguration(yield* locateConfiguration(config), library)
        const outcome = yield* fetchShown(configuration, logFormat).pipe(
          Effect.mapError(inFile(configuration.file))
        )
        yield* Console.log(JSON.stringify(outcome, null, 2))
      }).pipe(Effect.onInterrupt(() => reportInterrupted))
  ).pipe(Command.withDescription("Fetch the content once and end."))

const fetchShown = (configuration: Configuration, logFormat: LogFormat) =>
  Effect.gen(function* () {
    const display = yield* makeProgressDisplay
    const task = Effect.gen(function* () {
      const { dispatch } = yield* CommandBus
      const events = yield* Effect.flatMap(EventBus, ({ subscribe }) => subscribe)
      return yield* dispatch({ type: "content.fetch" }).pipe(withProgress(display, events))
    })
    return yield* runTask(configuration, task).pipe(logTo({ format: logFormat, write: display.log }))
  }).pipe(Effect.scoped)

/** A command that was to end by itself has failed when it is interrupted. */
const reportInterrupted = Effect.zipRight(
  Console.error("Interrupted before the end; the content stays as it is."),
  Effect.sync(() => {
    process.exitCode = 1
  })
)
