/**
 * `vitrine fetch`
 */
import * as Path from "@effect/platform/Path"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { CommandBus } from "../../services/CommandBus.ts"
import { EventBus } from "../../services/EventBus.ts"
import { IpcClient } from "../../services/IpcClient.ts"
import { runTask } from "../controller/Controller.ts"
import * as ControllerServices from "../controller/ControllerServices.ts"
import { inFile, loadConfiguration, locateConfiguration } from "../controller/loadConfiguration.ts"
import * as IpcClientSocket from "../ipc/IpcClientSocket.ts"
import * as Command from "./Command.ts"
import { configOption, envFileOption, logFormatOption, runDirOption } from "./commonOptions.ts"
import { loadEnvironment } from "./loadEnvironment.ts"
import { commands } from "./overview.ts"
import { logTo } from "./terminal/log.ts"
import { makeProgressDisplay, type ProgressDisplay, withProgress } from "./terminal/ProgressDisplay.ts"

/** `library` is what configurations import as `vitrine`. */
export const makeCommand = (library: object) =>
  Command.make({
    name: "fetch",
    description: commands.fetch.description,
    parameters: {
      config: configOption,
      envFile: envFileOption,
      logFormat: logFormatOption,
      runDir: runDirOption
    },
    run: ({ config, envFile, logFormat, runDir }) =>
      Effect.gen(function* () {
        yield* loadEnvironment(envFile)
        const path = yield* Path.Path
        const file = yield* locateConfiguration(config)
        const display = yield* makeProgressDisplay
        return yield* fetchInController(display).pipe(
          Effect.provide(IpcClientSocket.layerOfFolder(path.dirname(file), Option.getOrUndefined(runDir))),
          Effect.catchTag("vitrine/ControllerNotRunning", () => fetchHere(file, library, display)),
          logTo({ format: logFormat, write: display.log })
        )
      }).pipe(
        Effect.scoped,
        Effect.flatMap((outcome) => Console.log(JSON.stringify(outcome, null, 2)))
      )
  })

const fetchCommand = { type: "content.fetch" }

const fetchInController = Effect.fnUntraced(
  function* (display: ProgressDisplay) {
    const controller = yield* IpcClient
    const { pid } = yield* controller.process
    yield* Effect.logInfo(`Asking the controller that runs here (process ${pid})`)
    const events = Stream.catchAll(yield* controller.events, () => Stream.empty)
    return yield* controller.dispatch(fetchCommand).pipe(withProgress(display, events))
  },
  (effect, display) =>
    Effect.onInterrupt(effect, () => reportInterrupted(display, "The controller goes on fetching."))
)

const fetchHere = Effect.fnUntraced(
  function* (file: string, library: object, display: ProgressDisplay) {
    const configuration = yield* loadConfiguration(file, library)
    const task = Effect.gen(function* () {
      const { dispatch } = yield* CommandBus
      const events = yield* Effect.orElseSucceed(
        Effect.flatMap(EventBus, ({ subscribe }) => subscribe),
        () => Stream.empty
      )
      return yield* dispatch(fetchCommand).pipe(
        withProgress(
          display,
          Stream.catchAll(events, () => Stream.empty)
        )
      )
    })
    return yield* runTask(configuration, task).pipe(
      Effect.provide(ControllerServices.layer("task", configuration.services)),
      Effect.mapError(inFile(file))
    )
  },
  (effect, _file, _library, display) =>
    Effect.onInterrupt(effect, () =>
      reportInterrupted(display, "Interrupted before the end; the content stays as it is.")
    )
)

/** A command that was to end by itself has failed when it is interrupted. */
const reportInterrupted = ({ log }: ProgressDisplay, message: string) =>
  Effect.sync(() => {
    log(message)
    process.exitCode = 1
  })
