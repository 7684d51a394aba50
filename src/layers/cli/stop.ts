/**
 * `vitrine stop`
 *
 * A controller has ended when its connections and the lock of its folder are gone; its process id does not matter. No process
 * gets a signal: the id comes from the controller or its file, and may belong to another process here.
 */
import * as Path from "@effect/platform/Path"
import * as Console from "effect/Console"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { IpcClient, type IpcError } from "../../services/IpcClient.ts"
import * as IpcClientSocket from "../control/IpcClientSocket.ts"
import { type FoundController, findController, locateController } from "../control/runFolder.ts"
import { locateConfiguration } from "../controller/locateConfiguration.ts"
import { caller } from "./askController.ts"
import { CliError } from "./command.ts"
import type { Options } from "./program.ts"

/** How long a controller takes to end. */
const gracePeriod = "2 seconds"

/** How long a blocked controller takes to end. */
const patience = "5 seconds"

const inBrackets = (pid: number | undefined) => (pid === undefined ? "" : ` (process ${pid})`)

export const run = ({ config, runDir }: Options) =>
  Effect.gen(function* () {
    const path = yield* Path.Path
    const file = yield* locateConfiguration(config)
    const paths = yield* locateController(path.dirname(file), runDir)
    const controller = yield* findController(paths)
    yield* askToEnd(controller).pipe(
      Effect.provide(IpcClientSocket.layer(paths.socket)),
      Effect.catchTags({
        "vitrine/ControllerNotRunning": awaitUnasked(controller, Effect.fail),
        "vitrine/IpcConnectionLost": awaitUnasked(controller, Effect.fail),
        "vitrine/IpcProtocolError": awaitUnasked(controller, Effect.fail),
        "vitrine/ControllerUnresponsive": ({ seconds }) =>
          notStopped(controller, `it has not answered for ${seconds} seconds.`, true)
      })
    )
  })

const completesIn = (done: Effect.Effect<void>, duration: Duration.DurationInput) =>
  Effect.map(Effect.timeoutOption(done, duration), Option.isSome)

const askToEnd = (found: FoundController) =>
  Effect.gen(function* () {
    const ipc = yield* IpcClient
    const controller = { ...found, pid: (yield* ipc.process).pid }
    const events = yield* ipc.events
    yield* ipc.stop(caller())
    const ended = Effect.zipRight(Effect.ignore(Stream.runDrain(events)), controller.ended)
    yield* (yield* completesIn(ended, patience))
      ? reportEnded(controller)
      : notStopped(controller, `it was asked to end, and has not ended within ${patience}.`, true)
  }).pipe(Effect.scoped)

/** Waits for a controller that cannot be asked, for example because its socket was removed: it may be ending. */
const awaitUnasked =
  <E extends IpcError, E2>(controller: FoundController, orElse: (error: E) => Effect.Effect<void, E2>) =>
  (error: E): Effect.Effect<void, CliError | E2> =>
    controller.isRunning
      ? Effect.if(completesIn(controller.ended, gracePeriod), {
          onTrue: () => reportEnded(controller),
          onFalse: () =>
            notStopped(
              controller,
              "it still has the lock of its folder, but its socket cannot be reached.",
              false
            )
        })
      : orElse(error)

const notStopped = ({ pid }: FoundController, detail: string, isHung: boolean) => {
  const advice =
    pid === undefined
      ? "End its process, whose id is not known."
      : `To end its process, type: ${killCommand(pid, isHung)} (if it runs in a container, stop the container).`
  return new CliError({ message: `The controller${inBrackets(pid)} was not stopped: ${detail} ${advice}` })
}

/** A process that hangs ignores SIGTERM. */
const killCommand = (pid: number, isHung: boolean) =>
  process.platform === "win32" ? `taskkill /PID ${pid} /F` : `kill ${isHung ? "-9 " : ""}${pid}`

const reportEnded = ({ pid }: FoundController) => Console.log(`The controller has ended${inBrackets(pid)}.`)
