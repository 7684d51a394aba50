/**
 * The command line: prints failures, and ends the process with a status. Commands that report by their status
 * (`status --check`), and interrupted commands, set their own status.
 */
import { setDefaultAutoSelectFamilyAttemptTimeout } from "node:net"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Runtime from "@effect/platform/Runtime"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { addressMs } from "./internal/addressMs.ts"
import { CliError, VitrineModule } from "./layers/cli/command.ts"
import { exitAfterSignals, exitProcess } from "./layers/cli/processExit.ts"
import type { Arguments, CommandName, Given, LogFormat, Options } from "./layers/cli/program.ts"
import { failureText, logTo } from "./layers/cli/terminal/log.ts"

const platform = Layer.merge(NodeFileSystem.layer, NodePath.layer)

type Run<R = never> = (
  options: Options,
  ...args: Arguments
) => Effect.Effect<void, unknown, R | Layer.Layer.Success<typeof platform> | VitrineModule>

/** Also loads the HTTP client, which the other commands do not need. */
const withHttpClient = (load: () => Promise<Run<HttpClient.HttpClient>>) => async (): Promise<Run> => {
  const [{ layer }, run] = await Promise.all([import("./layers/httpClient/HttpClientNode.ts"), load()])
  return (options, ...args) => Effect.provide(run(options, ...args), layer)
}

const commands: Readonly<Record<CommandName, () => Promise<Run>>> = {
  init: async () => (await import("./layers/cli/init.ts")).run,
  start: withHttpClient(async () => (await import("./layers/cli/start.ts")).run),
  status: async () => (await import("./layers/cli/status.ts")).status,
  fleet: async () => (await import("./layers/cli/status.ts")).fleet,
  accept: async () => (await import("./layers/cli/accept.ts")).run,
  mute: async () => (await import("./layers/cli/mute.ts")).run,
  fetch: withHttpClient(async () => (await import("./layers/cli/check.ts")).fetch),
  check: withHttpClient(async () => (await import("./layers/cli/check.ts")).check),
  verify: withHttpClient(async () => (await import("./layers/cli/versions.ts")).verify),
  versions: withHttpClient(async () => (await import("./layers/cli/versions.ts")).versions),
  diff: withHttpClient(async () => (await import("./layers/cli/diff.ts")).run),
  rollback: withHttpClient(async () => (await import("./layers/cli/hold.ts")).rollback),
  hold: withHttpClient(async () => (await import("./layers/cli/hold.ts")).hold),
  release: withHttpClient(async () => (await import("./layers/cli/hold.ts")).release),
  resume: withHttpClient(async () => (await import("./layers/cli/hold.ts")).resume),
  screen: async () => (await import("./layers/cli/screen.ts")).run,
  types: withHttpClient(async () => (await import("./layers/cli/types.ts")).run),
  stop: async () => (await import("./layers/cli/stop.ts")).run
}

/** Loads the command and runs it. */
export const execute = ({ args, name, options }: Given) =>
  Effect.promise(commands[name]).pipe(
    Effect.flatMap((run) => run(options, ...args)),
    Effect.catchSomeDefect((defect) =>
      isWithoutFolder(defect) ? Option.some(workingFolderRemoved()) : Option.none()
    )
  )

/** Whether Node has failed to resolve a path because the working directory was removed. */
const isWithoutFolder = (defect: unknown) =>
  Predicate.hasProperty(defect, "syscall") && defect.syscall === "uv_cwd"

const workingFolderRemoved = () =>
  new CliError({
    message: "The current folder has been removed. Change to an existing folder."
  })

const executeReporting = (given: Given) => {
  const { logFormat, logLevel = "info" } = given.options
  const level = LogLevel.allLevels.find(({ _tag }) => _tag.toLowerCase() === logLevel) ?? LogLevel.Info
  return execute(given).pipe(
    Logger.withMinimumLogLevel(level),
    reportingFailure({ isDebugging: LogLevel.lessThanEqual(level, LogLevel.Debug), logFormat })
  )
}

/** Prints a failure: a message for people, or a JSON line for programs. */
const reportingFailure = ({
  isDebugging,
  logFormat
}: {
  readonly isDebugging: boolean
  readonly logFormat: LogFormat | undefined
}) =>
  Effect.tapErrorCause((cause: Cause.Cause<unknown>) => {
    if (Cause.isInterruptedOnly(cause)) {
      return Effect.void
    }
    const text = failureText(cause, isDebugging)
    return logFormat === "json"
      ? Effect.logFatal(text).pipe(logTo({ format: "json", write: console.error }))
      : Console.error(text)
  })

/** Ends the process when all output is written or has failed, even if a plugin has left something open. */
const teardown: Runtime.Teardown = (exit) =>
  Runtime.defaultTeardown(exit, (status) => {
    process.exitCode = status || Number(process.exitCode ?? 0)
    // An error of the output is reported a turn later.
    process.stdout.write("", () =>
      process.stderr.write("", () => setImmediate(() => exitProcess(Number(process.exitCode))))
    )
  })

/** Runs the command, and ends the process. */
export const run = (given: Given): void => {
  exitAfterSignals()
  // For NATS, whose client has no such option.
  setDefaultAutoSelectFamilyAttemptTimeout(addressMs)
  executeReporting(given).pipe(
    logTo({ format: "text", write: console.error }),
    Effect.provide(platform),
    Effect.provideService(
      VitrineModule,
      Effect.promise(() => import("./index.ts"))
    ),
    NodeRuntime.runMain({ disableErrorReporting: true, disablePrettyLogger: true, teardown })
  )
}
