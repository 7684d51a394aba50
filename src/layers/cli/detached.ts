/**
 * A controller that runs in the background.
 */

import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { retryHeldOpen } from "../../files/systemError.ts"
import { IpcClient } from "../../services/IpcClient.ts"
import { folderProblem } from "../control/claimFolder.ts"
import { lastFetchFailure } from "../status/health.ts"
import { CliError } from "./command.ts"

interface DetachedOptions {
  /** The arguments of `vitrine` in the background. */
  readonly args: ReadonlyArray<string>
  /** The file for output beside the log once the controller is ready, for example why it crashed. */
  readonly errorFile: string
}

/**
 * Starts `vitrine` in the background and waits until it is ready. Returns its process id.
 *
 * Until then it writes errors to a separate file: a running controller may use the error file.
 */
export const startDetached = ({ args, errorFile }: DetachedOptions): Effect.Effect<number, CliError> =>
  Effect.acquireUseRelease(
    attempt(() => {
      mkdirSync(dirname(errorFile), { recursive: true, mode: 0o700 })
      return `${errorFile}.${randomBytes(6).toString("hex")}`
    }),
    (startErrors) =>
      Effect.zipLeft(
        spawnUntilReady(args, startErrors),
        Effect.mapError(retryHeldOpen(Effect.try(() => renameSync(startErrors, errorFile))), ({ error }) =>
          notStarted(folderProblem(error))
        )
      ),
    (startErrors) => Effect.ignore(retryHeldOpen(Effect.try(() => rmSync(startErrors, { force: true }))))
  )

const attempt = <A>(action: () => A) =>
  Effect.try({ try: action, catch: (error) => notStarted(folderProblem(error)) })

/** The detail is the output of the process, or its exit status. */
const notStarted = (detail: string) => new CliError({ message: `The controller was not started. ${detail}` })

const spawnUntilReady = (args: ReadonlyArray<string>, errorFile: string) =>
  Effect.flatMap(
    attempt(() => openSync(errorFile, "wx", 0o600)),
    (errors) =>
      Effect.async<number, CliError>((resume) => {
        const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? "", ...args], {
          detached: true,
          windowsHide: true,
          stdio: ["ignore", "ignore", errors, "ipc"]
        })
        closeSync(errors)
        child.once("error", (error) => resume(notStarted(error.message)))
        child.once("exit", (status, signal) => {
          const output = readFileSync(errorFile, "utf8").trim()
          resume(notStarted(output === "" ? `It ended with ${signal ?? `status ${status}`}.` : output))
        })
        child.once("message", () => {
          child.disconnect()
          child.unref()
          resume(Effect.succeed(child.pid ?? 0))
        })
        return Effect.sync(() => child.kill())
      })
  )

/** Tells the parent process that this process in the background is ready. */
export const reportReady = Effect.sync(() => {
  if (process.connected) {
    process.send?.("ready")
  }
})

/** How long to wait for the first fetch: a longer fetch has not failed at once. */
const fetchPatience = "3 seconds"

/** Why the first fetch after the start failed, if it failed at once. */
export const firstFetchFailure = Effect.gen(function* () {
  const { events, view } = yield* IpcClient
  const live = yield* events
  if ((yield* view).contents.some(({ lastFetch }) => lastFetch === undefined)) {
    yield* Stream.runHead(Stream.filter(live, ({ name }) => /:fetch:(done|error)$/.test(name)))
  }
  return lastFetchFailure(yield* view)
}).pipe(
  Effect.scoped,
  Effect.timeout(fetchPatience),
  Effect.orElseSucceed(() => undefined)
)
