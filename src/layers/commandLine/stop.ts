/**
 * `vitrine stop`
 */
import * as Command from "@effect/cli/Command"
import * as Path from "@effect/platform/Path"
import * as Console from "effect/Console"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { messageOf } from "../../services/ErrorDescription.ts"
import { type ControllerUnresponsive, IpcClient, type IpcError } from "../../services/IpcClient.ts"
import { lockHolder } from "../content/folderLock.ts"
import { locateConfiguration } from "../controller/loadConfiguration.ts"
import * as IpcClientSocket from "../ipc/IpcClientSocket.ts"
import { readPidFile } from "../ipc/pidFile.ts"
import { locateController } from "../ipc/socketPath.ts"
import { configOption } from "./commonOptions.ts"
import { isRunning } from "./isRunning.ts"
import { commands } from "./overview.ts"

/** How long a controller takes to end. */
const gracePeriod = "2 seconds"

/** How long it has if something holds it up. */
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
    const { folder, pidFile, socket } = yield* locateController(path.dirname(file))
    yield* askToEnd.pipe(
      Effect.provide(IpcClientSocket.layer(socket)),
      Effect.catchTags({
        ControllerNotRunning: endUnasked(folder, ({ message }) => Console.log(message)),
        IpcConnectionLost: endUnasked(folder, Effect.fail),
        IpcProtocolError: endUnasked(folder, Effect.fail),
        ControllerUnresponsive: (error) => endUnresponsive(error, pidFile)
      })
    )
  })
).pipe(Command.withDescription(commands.stop.description))

const askToEnd = Effect.gen(function* () {
  const controller = yield* IpcClient
  const { pid } = yield* controller.process
  yield* controller.stop
  yield* (yield* endsWithin(pid, patience)) ? sayEnded(pid) : kill(pid)
})

/** Where it cannot be asked, because its socket was removed for example, the lock tells which process it is. */
const endUnasked =
  <E extends IpcError, E2>(folder: string, orElse: (error: E) => Effect.Effect<void, E2>) =>
  (error: E) =>
    Effect.flatMap(
      lockHolder(folder),
      (pid): Effect.Effect<void, NotStopped | E2> =>
        Option.isSome(pid) ? endBySignal(pid.value) : orElse(error)
    )

const endBySignal = (pid: number) =>
  Effect.gen(function* () {
    // It may be about to end, and a second signal would be taken for impatience.
    if (!(yield* endsWithin(pid, gracePeriod))) {
      yield* signal(pid, "SIGTERM")
    }
    yield* (yield* endsWithin(pid, patience)) ? sayEnded(pid) : kill(pid)
  })

/** It listens still, so the process whose id is in its file is the one. */
const endUnresponsive = (error: ControllerUnresponsive, pidFile: string) =>
  Effect.flatMap(
    readPidFile(pidFile),
    (pid): Effect.Effect<void, NotStopped | ControllerUnresponsive> =>
      Option.isSome(pid) ? kill(pid.value) : Effect.fail(error)
  )

const kill = (pid: number) =>
  signal(pid, "SIGKILL").pipe(
    Effect.zipRight(endsWithin(pid, patience)),
    Effect.filterOrFail(
      (hasEnded) => hasEnded,
      () => new NotStopped({ pid, detail: "it was killed, and has not ended. It may be waiting for a disk." })
    ),
    Effect.zipRight(Console.log(`The controller did not end in time and was killed (process ${pid}).`))
  )

const sayEnded = (pid: number) => Console.log(`The controller has ended (process ${pid}).`)

const signal = (pid: number, name: NodeJS.Signals) =>
  Effect.try({
    try: () => process.kill(pid, name),
    catch: (error) => new NotStopped({ pid, detail: messageOf(error) })
  })

const endsWithin = (pid: number, duration: Duration.DurationInput) =>
  Effect.map(Effect.timeoutOption(hasEnded(pid), duration), Option.isSome)

const hasEnded = (pid: number) =>
  Effect.sync(() => isRunning(pid)).pipe(
    Effect.repeat({ while: (running) => running, schedule: Schedule.spaced("50 millis") })
  )
