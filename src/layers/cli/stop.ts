/**
 * `vitrine stop`
 *
 * A controller has ended when its connections and the lock of its folder are gone, whatever number its process had.
 * What anybody says its process is serves for messages; only one that is proven to be it is sent a signal.
 */
import * as Path from "@effect/platform/Path"
import * as Console from "effect/Console"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { messageOf } from "../../internal/SerializedError.ts"
import { IpcClient, type IpcError } from "../../services/IpcClient.ts"
import { type FoundController, findController, until } from "../control/findController.ts"
import * as IpcClientSocket from "../control/IpcClientSocket.ts"
import { locateController } from "../control/socketPath.ts"
import { locateConfiguration } from "../controller/locateConfiguration.ts"
import { caller } from "./caller.ts"
import type { Options } from "./options.ts"

/** How long a controller takes to end. */
const gracePeriod = "2 seconds"

/** How long it has if something holds it up. */
const patience = "5 seconds"

export class NotStopped extends Schema.TaggedError<NotStopped>()("vitrine/NotStopped", {
  /** The process that the controller says it is; absent where it does not say. Nothing proves it. */
  pid: Schema.optionalWith(Schema.Number, { exact: true }),
  detail: Schema.String
}) {
  override get message() {
    return `The controller${inBrackets(this.pid)} could not be stopped: ${this.detail}`
  }
}

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
        "vitrine/ControllerNotRunning": endUnasked(controller, ({ message }) => Console.log(message)),
        "vitrine/IpcConnectionLost": endUnasked(controller, Effect.fail),
        "vitrine/IpcProtocolError": endUnasked(controller, Effect.fail),
        "vitrine/ControllerUnresponsive": () => kill(controller)
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
    yield* (yield* completesIn(ended, patience)) ? reportEnded(controller) : kill(controller)
  }).pipe(Effect.scoped)

/** Where it cannot be asked, because its socket was removed for example, it may be about to end. */
const endUnasked =
  <E extends IpcError, E2>(controller: FoundController, orElse: (error: E) => Effect.Effect<void, E2>) =>
  (error: E): Effect.Effect<void, NotStopped | E2> =>
    controller.isRunning
      ? Effect.if(completesIn(controller.ended, gracePeriod), {
          onTrue: () => reportEnded(controller),
          onFalse: () => endBySignal(controller)
        })
      : orElse(error)

const endBySignal = Effect.fnUntraced(function* (controller: FoundController) {
  yield* Effect.flatMap(provenProcess(controller), signal("SIGTERM"))
  yield* (yield* completesIn(controller.ended, patience)) ? reportEnded(controller) : kill(controller)
})

const kill = Effect.fnUntraced(function* (controller: FoundController) {
  const pid = yield* provenProcess(controller)
  yield* signal("SIGKILL")(pid)
  const listens = Effect.map(controller.process, Option.contains(pid))
  if (!(yield* completesIn(until(Effect.negate(listens)), patience))) {
    const detail = "it was killed, and has not ended. It may be waiting for a disk."
    return yield* new NotStopped({ pid, detail })
  }
  yield* Console.log(`The controller did not end in time and was killed (process ${pid}).`)
})

const provenProcess = (controller: FoundController) =>
  Effect.flatten(controller.process).pipe(
    Effect.mapError(
      () =>
        new NotStopped({
          ...(controller.pid === undefined ? {} : { pid: controller.pid }),
          detail:
            "it does not end, and was not killed, because it is not certain which process of this system it is: it may run in a container. End it by hand."
        })
    )
  )

const reportEnded = ({ pid }: FoundController) => Console.log(`The controller has ended${inBrackets(pid)}.`)

const signal = (name: NodeJS.Signals) => (pid: number) =>
  Effect.try({
    try: () => process.kill(pid, name),
    catch: (error) => new NotStopped({ pid, detail: messageOf(error) })
  })
