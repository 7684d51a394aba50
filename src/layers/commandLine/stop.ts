/**
 * `vitrine stop`
 */
import * as Command from "@effect/cli/Command"
import * as Path from "@effect/platform/Path"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { messageOf } from "../../services/ErrorDescription.ts"
import { type ControllerUnresponsive, IpcClient } from "../../services/IpcClient.ts"
import { locateConfiguration } from "../controller/loadConfiguration.ts"
import * as IpcClientSocket from "../ipc/IpcClientSocket.ts"
import { readPidFile } from "../ipc/pidFile.ts"
import { locateController } from "../ipc/socketPath.ts"
import { configOption } from "./commonOptions.ts"
import { commands } from "./overview.ts"

/** A controller ends within two seconds; whatever holds it up has this long. */
const patience = "5 seconds"

export class NotStopped extends Schema.TaggedError<NotStopped>()("NotStopped", {
  pid: Schema.Number,
  detail: Schema.String
}) {
  override get message() {
    return `The controller (process ${this.pid}) could not be stopped: ${this.detail}`
  }
}

export const command = Command.make("stop", { config: configOption }, ({ config }) =>
  Effect.gen(function* () {
    const path = yield* Path.Path
    const file = yield* locateConfiguration(config)
    const { pidFile, socket } = yield* locateController(path.dirname(file))
    yield* askToEnd.pipe(
      Effect.provide(IpcClientSocket.layer(socket)),
      Effect.catchTags({
        ControllerNotRunning: ({ message }) => awaitEnd(message, pidFile),
        ControllerUnresponsive: (error) => endUnresponsive(error, pidFile)
      })
    )
  })
).pipe(Command.withDescription(commands.stop.description))

/**
 * One that is about to end does not listen any more, and removes the file with its process id last. One that was killed
 * has left the file behind, and its id may be somebody else's since.
 */
const awaitEnd = (notRunning: string, pidFile: string) =>
  Effect.gen(function* () {
    const ending = Option.filter(yield* readPidFile(pidFile), isRunning)
    const ended = yield* Effect.transposeMapOption(ending, (pid) => Effect.as(hasEnded(pid), pid)).pipe(
      Effect.timeoutTo({ duration: patience, onSuccess: identity, onTimeout: Option.none })
    )
    yield* Option.match(ended, { onNone: () => Console.log(notRunning), onSome: sayEnded })
  })

const askToEnd = Effect.gen(function* () {
  const controller = yield* IpcClient
  const { pid } = yield* controller.process
  yield* controller.stop
  yield* hasEnded(pid).pipe(
    Effect.timeoutOption(patience),
    Effect.flatMap(
      Option.match({
        onNone: () => endFirmly(pid),
        onSome: () => sayEnded(pid)
      })
    )
  )
})

const sayEnded = (pid: number) => Console.log(`The controller has ended (process ${pid}).`)

/** It listens still, so the process whose id is in its file is the one. */
const endUnresponsive = (error: ControllerUnresponsive, pidFile: string) =>
  Effect.flatMap(
    readPidFile(pidFile),
    (pid): Effect.Effect<void, NotStopped | ControllerUnresponsive> =>
      Option.isSome(pid) ? endFirmly(pid.value) : Effect.fail(error)
  )

const endFirmly = (pid: number) =>
  Effect.try({
    try: () => process.kill(pid, "SIGKILL"),
    catch: (error) => new NotStopped({ pid, detail: messageOf(error) })
  }).pipe(
    Effect.zipRight(hasEnded(pid)),
    Effect.zipRight(Console.log(`The controller did not end in time and was killed (process ${pid}).`))
  )

const hasEnded = (pid: number) =>
  Effect.sync(() => isRunning(pid)).pipe(
    Effect.repeat({ while: (running) => running, schedule: Schedule.spaced("50 millis") })
  )

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // Somebody else's process cannot be signalled, and runs.
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}
