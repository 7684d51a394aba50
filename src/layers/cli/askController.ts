/**
 * Asks the running controller of a configuration.
 */
import { hostname, userInfo } from "node:os"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { ControllerNotRunning, ControllerUnreachable } from "../../services/IpcClient.ts"
import type { ControllerPaths } from "../control/controllerPaths.ts"
import * as IpcClientSocket from "../control/IpcClientSocket.ts"
import { findController, locateController } from "../control/runFolder.ts"
import { locateConfiguration } from "../controller/locateConfiguration.ts"
import type { Options } from "./program.ts"

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
