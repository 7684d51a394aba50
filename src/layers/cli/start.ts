/**
 * `vitrine start`, here or in the background
 */

import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import * as Path from "@effect/platform/Path"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import { readPlainText } from "../../files/readPlainText.ts"
import { sha256OfText } from "../../files/sha256.ts"
import { isUnwritable, retryHeldOpen } from "../../files/systemError.ts"
import { printableLine } from "../../internal/printable.ts"
import { withLocalTimes } from "../../internal/readable.ts"
import { repeatAfter } from "../../internal/Schedules.ts"
import { HasDevServer } from "../../services/ContentServer.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import { IpcClient } from "../../services/IpcClient.ts"
import type { Problem } from "../../services/Problem.ts"
import type { Stop } from "../../services/Slices.ts"
import * as Alerts from "../alerts/Alerts.ts"
import * as Mutes from "../alerts/Mutes.ts"
import { reportProblems } from "../alerts/reportProblems.ts"
import { ControllerAlreadyRunning, folderProblem } from "../control/claimFolder.ts"
import * as IpcClientSocket from "../control/IpcClientSocket.ts"
import * as IpcServer from "../control/IpcServer.ts"
import { locateController } from "../control/runFolder.ts"
import { runPersistent } from "../controller/Controller.ts"
import * as ControllerServices from "../controller/ControllerServices.ts"
import { inFile, type LoadedConfiguration } from "../controller/loadConfiguration.ts"
import { lastFetchFailure } from "../status/rows.ts"
import { caller } from "./askController.ts"
import * as Configuration from "./Configuration.ts"
import { CliError } from "./command.ts"
import type { Options } from "./program.ts"
import { logTo } from "./terminal/log.ts"
import { openLogFile } from "./terminal/logFile.ts"

export const run = (options: Options) =>
  Effect.gen(function* () {
    const file = yield* Configuration.locate(options)
    yield* options.detach === true
      ? startInBackground(file, options)
      : runHere(file, options.runDir).pipe(
          Effect.provideService(HasDevServer, options.devServer === true),
          Configuration.keepPrivate(file, options),
          withLog(options),
          Effect.scoped
        )
  })

const runHere = Effect.fnUntraced(function* (file: string, runDir: string | undefined) {
  const path = yield* Path.Path
  const loaded = yield* Configuration.load(file)
  // A controller that is refused here must not write to the log of the running controller.
  const claimed = yield* orUnreachable(IpcServer.claim({ folder: loaded.cwd, runFolder: runDir }))
  yield* Effect.logInfo(`Starting with ${loaded.file}`)
  const endpoint = Effect.gen(function* () {
    const noteStop = yield* registerStop
    yield* nameInterrupter(noteStop)
    yield* reportChange(loaded)
    const kept = (name: string) =>
      Option.getOrUndefined(Option.map(claimed, ({ folder }) => path.join(folder, name)))
    yield* keepMutes(kept("mutes.json"))
    const { alerts, identity } = loaded
    yield* reportProblems()
    if (alerts !== undefined) yield* Alerts.make(alerts, identity.node, kept("alerts.json"))
    const asked = yield* Deferred.make<void>()
    const options = {
      configuration: sha256OfText(loaded.text),
      stop: Deferred.succeed(asked, undefined),
      noteStop
    }
    if (Option.isSome(claimed)) {
      yield* orUnreachable(IpcServer.serve(claimed.value, options))
    }
    return Deferred.await(asked)
  })
  yield* runPersistent(loaded, { endpoint, onReady: reportReady }).pipe(
    Effect.provide(ControllerServices.layer("persistent", loaded.services, loaded.identity)),
    Effect.mapError(inFile(loaded.file))
  )
}, Effect.scoped)

/** Keeps in the state who was the first to stop the controller. */
const registerStop = Effect.gen(function* () {
  const { register } = yield* ControllerState
  const { update } = yield* register<Stop>({ name: "stop" })
  return (by: string) => update((slice) => slice ?? { kind: "stop", by })
})

/** Until the scope ends, Ctrl-C counts as a stop by the user of the process. Runs before the listener that ends the controller. */
const nameInterrupter = (noteStop: (by: string) => Effect.Effect<void>) => {
  const name = () => Effect.runSync(noteStop(caller()))
  return Effect.acquireRelease(
    Effect.sync(() => process.prependOnceListener("SIGINT", name)),
    () => Effect.sync(() => process.off("SIGINT", name))
  )
}

/** Opens the socket. On a disk that supports no sockets, the controller continues without it. */
const orUnreachable = <A, E extends Error, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.catchIf(Effect.asSome(effect), isUnwritable, ({ message }) =>
    Effect.as(
      Effect.logWarning(`${message} The controller goes on without it: no other command can reach it.`),
      Option.none()
    )
  )

/** If processes share a command bus, problems can be muted only in the first process. */
const keepMutes = (file: string | undefined) =>
  Mutes.make(file).pipe(
    Effect.catchTag("vitrine/CommandAlreadyRegistered", ({ message }) =>
      Effect.logWarning(`Problems cannot be muted here. ${message}`)
    )
  )

/**
 * Compares the file every ten seconds with the text that was loaded, until the scope ends. Reports a problem as long as the text
 * differs. A file that cannot be read changes nothing.
 */
export const reportChange = Effect.fnUntraced(function* ({
  file,
  text: loaded
}: Pick<LoadedConfiguration, "file" | "text">) {
  const path = yield* Path.Path
  const { register } = yield* ControllerState
  const changed: Problem = {
    code: "configuration:changed",
    severity: "warning",
    text: `${path.basename(file)} has changed since the start: it takes effect when the controller is restarted.`
  }
  const { update } = yield* register<unknown>({ name: "configuration", slice: { problems: [] } })
  const shown = yield* Ref.make(false)
  const look = Effect.gen(function* () {
    const hasChanged = (yield* readPlainText(file)) !== loaded
    if (hasChanged === (yield* Ref.getAndSet(shown, hasChanged))) return
    yield* update(() => ({ problems: hasChanged ? [changed] : [] }))
  })
  yield* Effect.ignore(look).pipe(repeatAfter("10 seconds"), Effect.forkScoped)
})

const withLog =
  ({ logFile, logFormat: format = "text" }: Options) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    logFile === undefined
      ? logTo({ format, write: console.error })(effect)
      : Effect.gen(function* () {
          const write = yield* openLogFile(logFile)
          return yield* effect.pipe(
            Effect.tapErrorCause(logFailure),
            logTo({ format, write, time: (date) => date.toISOString() })
          )
        })

/** Also logs a failed start, except if a controller runs already: the log belongs to that controller. */
const logFailure = (cause: Cause.Cause<unknown>) =>
  Cause.isInterruptedOnly(cause) || Cause.squash(cause) instanceof ControllerAlreadyRunning
    ? Effect.void
    : Effect.logError("The controller has not started", cause)

const startInBackground = Effect.fnUntraced(function* (
  file: string,
  { devServer = false, envFile, logFile, logFormat = "text", runDir }: Options
) {
  const path = yield* Path.Path
  const { folder } = yield* locateController(path.dirname(file), runDir)
  const log = path.resolve(logFile ?? path.join(folder, "controller.log"))
  const level = yield* FiberRef.get(FiberRef.currentMinimumLogLevel)
  const pid = yield* startDetached({
    args: [
      ...["--log-level", level._tag.toLowerCase()],
      "start",
      ...["--config", file],
      ...["--log-file", log],
      ...["--log-format", logFormat],
      ...(envFile === undefined ? [] : ["--private-file", path.resolve(envFile)]),
      ...(devServer ? ["--dev-server"] : []),
      ...(runDir === undefined ? [] : ["--run-dir", folder])
    ],
    errorFile: path.join(folder, "errors.log")
  })
  yield* Console.log(`The controller is running in the background (process ${pid}). Its log is ${log}.`)
  const failure = yield* Effect.provide(
    firstFetchFailure,
    IpcClientSocket.layerOfFolder(path.dirname(file), runDir)
  )
  if (failure !== undefined) {
    const text = withLocalTimes(printableLine(failure), yield* Clock.currentTimeMillis)
    yield* Console.error(`The first fetch failed; the controller goes on. ${text}`)
  }
})

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
const startDetached = ({ args, errorFile }: DetachedOptions): Effect.Effect<number, CliError> =>
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
const reportReady = Effect.sync(() => {
  if (process.connected) {
    process.send?.("ready")
  }
})

/** How long to wait for the first fetch: a longer fetch has not failed at once. */
const fetchPatience = "3 seconds"

/** Why the first fetch after the start failed, if it failed at once. */
const firstFetchFailure = Effect.gen(function* () {
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
