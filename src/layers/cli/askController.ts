/**
 * Asks the running controller, and prints the answer once, or every second until the command ends.
 */
import { hostname, userInfo } from "node:os"
import * as Path from "@effect/platform/Path"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { ControllerNotRunning, ControllerUnreachable } from "../../services/IpcClient.ts"
import { findController } from "../control/findController.ts"
import * as IpcClientSocket from "../control/IpcClientSocket.ts"
import { type ControllerPaths, locateController } from "../control/socketPath.ts"
import { locateConfiguration } from "../controller/locateConfiguration.ts"
import type { Options } from "./program.ts"
import { failureText } from "./terminal/log.ts"

/** Asks the controller of a configuration file through its socket. */
export const askController =
  ({ config, runDir }: Options) =>
  <A, E, R>(question: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const path = yield* Path.Path
      const file = yield* locateConfiguration(config)
      const paths = yield* locateController(path.dirname(file), runDir)
      return yield* Effect.provide(question, IpcClientSocket.layer(paths.socket)).pipe(
        Effect.tapError((error) =>
          error instanceof ControllerNotRunning ? failIfRunning(paths) : Effect.void
        )
      )
    })

/** Fails if the controller runs although nothing listens at its socket: it starts or ends, or somebody has removed the socket. */
const failIfRunning = (paths: ControllerPaths) =>
  Effect.flatMap(findController(paths), ({ isRunning, pid }) =>
    isRunning
      ? new ControllerUnreachable({
          path: paths.socket,
          detail: `it runs${pid === undefined ? "" : ` (process ${pid})`}, but does not listen there. It is starting or ending, or somebody has removed its socket: "vitrine stop" says how to end it.`
        })
      : Effect.void
  )

/** Who runs the command: `user@host`, with the user of `sudo` instead of root; only the host if the system does not know the user, as in some containers. */
export const caller = (): string =>
  Option.fromNullable(process.env.SUDO_USER).pipe(
    Option.filter((user) => user !== ""),
    Option.orElse(Option.liftThrowable(() => userInfo().username)),
    Option.match({ onNone: hostname, onSome: (user) => `${user}@${hostname()}` })
  )

/** Prints a text. If watched, replaces it every second, and prints failures as text. */
export const show = <E, R>(text: Effect.Effect<string, E, R>, isWatched: boolean) =>
  isWatched ? Effect.scoped(keepShowing(text)) : Effect.flatMap(text, Console.log)

/** Continues after failures: the controller may start later. */
const keepShowing = <E, R>(text: Effect.Effect<string, E, R>) =>
  Effect.gen(function* () {
    const { makeLiveText } = yield* Effect.promise(() => import("./terminal/liveText.ts"))
    const show = yield* makeLiveText(process.stdout)
    yield* text.pipe(
      Effect.catchAll((error) => Effect.succeed(failureText(Cause.fail(error), false))),
      Effect.flatMap(show),
      Effect.repeat(Schedule.spaced("1 second"))
    )
  })
