/**
 * The command line: what a failure prints, and with which status the process ends. A command that reports by its status
 * (`status --check`), or that was interrupted, sets one of its own.
 */
import { stripVTControlCharacters } from "node:util"
import * as Runtime from "@effect/platform/Runtime"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as library from "./index.ts"
import { type Command, helpText } from "./layers/cli/Command.ts"
import * as check from "./layers/cli/check.ts"
import { completionScript } from "./layers/cli/completions.ts"
import * as diff from "./layers/cli/diff.ts"
import { end, endFirmly } from "./layers/cli/ending.ts"
import * as fetch from "./layers/cli/fetch.ts"
import * as fleet from "./layers/cli/fleet.ts"
import * as init from "./layers/cli/init.ts"
import { globalOptions } from "./layers/cli/options.ts"
import { overview } from "./layers/cli/overview.ts"
import { type Request, readArguments } from "./layers/cli/readArguments.ts"
import * as start from "./layers/cli/start.ts"
import * as status from "./layers/cli/status.ts"
import * as stop from "./layers/cli/stop.ts"
import { failureText, logTo } from "./layers/cli/terminal/log.ts"
import { isColourful } from "./layers/cli/terminal/statusText.ts"
import * as types from "./layers/cli/types.ts"
import * as undo from "./layers/cli/undo.ts"
import * as verify from "./layers/cli/verify.ts"
import * as versions from "./layers/cli/versions.ts"
import * as watch from "./layers/cli/watch.ts"
import * as HttpClient from "./layers/httpClient/HttpClientNode.ts"
import * as watchWebhooks from "./layers/sources/airtable/watchWebhooks.ts"

const platform = Layer.merge(NodeContext.layer, HttpClient.layer)

const commands: ReadonlyArray<Command<unknown, Layer.Layer.Success<typeof platform>>> = [
  init.command,
  start.makeCommand(library),
  status.command,
  fleet.command,
  fetch.makeCommand(library),
  check.makeCommand(library),
  verify.makeCommand(library),
  versions.makeCommand(library),
  diff.makeCommand(library),
  undo.makeRollback(library),
  undo.makeHold(library),
  undo.makeRelease(library),
  undo.makeResume(library),
  types.makeCommand(library),
  stop.command,
  watch.makeCommand(watchWebhooks)
]

const answer = (version: string, args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { logFormat, logLevel, request } = yield* readArguments(commands, args).pipe(reportingFailure({}))
    const level = Option.getOrElse(logLevel, () => LogLevel.Info)
    yield* execute(version, request).pipe(
      Logger.withMinimumLogLevel(level),
      reportingFailure({ isDebugging: LogLevel.lessThanEqual(level, LogLevel.Debug), logFormat })
    )
  })

const execute = <E, R>(version: string, request: Request<E, R>): Effect.Effect<void, E, R> => {
  switch (request._tag) {
    case "Help":
      return Console.log(Option.match(request.command, { onNone: () => overview(version), onSome: helpText }))
    case "Version":
      return Console.log(version)
    case "Completions":
      return Console.log(completionScript(request.shell, commands, Object.values(globalOptions)))
    case "Run":
      return request.run
  }
}

/** In one message for people, or in one JSON line for programs. */
const reportingFailure = ({
  isDebugging = false,
  logFormat = Option.none()
}: {
  readonly isDebugging?: boolean
  readonly logFormat?: Option.Option<string>
}) =>
  Effect.tapErrorCause((cause: Cause.Cause<unknown>) => {
    if (Cause.isInterruptedOnly(cause)) {
      return Effect.void
    }
    const text = failureText(cause, isDebugging)
    return Option.contains(logFormat, "json")
      ? Effect.logFatal(text).pipe(logTo({ format: "json", write: console.error }))
      : Console.error(text)
  })

/** Ends the process when all that was said is written, or has failed to be, whatever a plugin may have left open. */
const teardown: Runtime.Teardown = (exit) =>
  Runtime.defaultTeardown(exit, (status) => {
    process.exitCode = status || Number(process.exitCode ?? 0)
    // An error of the output comes a turn later.
    process.stdout.write("", () =>
      process.stderr.write("", () => setImmediate(() => end(Number(process.exitCode))))
    )
  })

/**
 * A log that cannot be written is no reason to end. When the reader of its output goes away, the command ends, and has not failed for
 * that; output that cannot be written for another reason, to a full disk for example, is a failure.
 */
const outliveOutput = () => {
  process.stderr.on("error", () => {})
  process.stdout.on("error", ({ code }: NodeJS.ErrnoException) =>
    process.exit(code === "EPIPE" ? process.exitCode : 1)
  )
}

/** Takes the colours out of what the effect writes to the console, as far as they are out of place. */
const withFittingColours = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Console.consoleWith((console) =>
    Console.withConsole(effect, {
      ...console,
      log: (...args) => console.log(...fitting(process.stdout, args)),
      error: (...args) => console.error(...fitting(process.stderr, args))
    })
  )

const fitting = (stream: NodeJS.WriteStream, args: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  isColourful(stream)
    ? args
    : args.map((arg) => (typeof arg === "string" ? stripVTControlCharacters(arg) : arg))

/** Does what the arguments of the process say, and ends the process. */
export const run = (version: string): void => {
  endFirmly()
  outliveOutput()
  answer(version, process.argv.slice(2)).pipe(
    withFittingColours,
    logTo({ format: "text", write: console.error }),
    Effect.provide(platform),
    NodeRuntime.runMain({ disableErrorReporting: true, disablePrettyLogger: true, teardown })
  )
}
