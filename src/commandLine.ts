/**
 * The command line. Messages and exit statuses are decided here and nowhere else.
 */
import * as CliConfig from "@effect/cli/CliConfig"
import * as Command from "@effect/cli/Command"
import * as ValidationError from "@effect/cli/ValidationError"
import * as Runtime from "@effect/platform/Runtime"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as library from "./index.ts"
import { end, endFirmly } from "./layers/commandLine/ending.ts"
import * as fetch from "./layers/commandLine/fetch.ts"
import { bashCompletions, cliConfig, helpText } from "./layers/commandLine/help.ts"
import * as init from "./layers/commandLine/init.ts"
import { overview } from "./layers/commandLine/overview.ts"
import { type Asked, readArguments } from "./layers/commandLine/readArguments.ts"
import * as start from "./layers/commandLine/start.ts"
import * as status from "./layers/commandLine/status.ts"
import * as stop from "./layers/commandLine/stop.ts"
import * as tables from "./layers/commandLine/tables.ts"
import * as HttpClient from "./layers/http/httpClient.ts"
import { failureText, logTo } from "./layers/terminal/log.ts"
import { withFittingColours } from "./layers/terminal/plainOutput.ts"

const vitrine = Command.make("vitrine").pipe(
  Command.withDescription(
    "Content delivery for installations: immutable versions on disk, announced as events."
  ),
  Command.withSubcommands([
    init.command,
    start.makeCommand(library),
    status.command,
    fetch.makeCommand(library),
    stop.command,
    tables.command
  ])
)

/** Does what the library leaves out or says unclearly, and leaves the rest to it. */
const answer = (version: string, args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const asked = yield* readArguments(vitrine.descriptor, args).pipe(reportingFailure({}))
    const { command, completions, isHelpWanted } = asked
    if (isHelpWanted) {
      yield* Console.log(Option.match(command, { onNone: () => overview(version), onSome: helpText }))
    } else if (completions === "bash" || completions === "sh") {
      yield* Effect.flatMap(bashCompletions(vitrine.descriptor), Console.log)
    } else {
      yield* Command.run(vitrine, { name: "vitrine", version })(process.argv).pipe(reportingFailure(asked))
    }
  })

/** In one message for people, or in one JSON line for programs. The library has reported its own failures. */
const reportingFailure = ({ isDebugging = false, logFormat }: Partial<Asked>) =>
  Effect.tapErrorCause((cause: Cause.Cause<unknown>) => {
    if (Cause.isInterruptedOnly(cause) || ValidationError.isValidationError(Cause.squash(cause))) {
      return Effect.void
    }
    const text = failureText(cause, isDebugging)
    return logFormat === "json"
      ? Effect.logFatal(text).pipe(logTo({ format: "json", write: console.error }))
      : Console.error(text)
  })

/** Ends the process when all that was said is written, whatever a plugin may have left open. */
const teardown: Runtime.Teardown = (exit) =>
  Runtime.defaultTeardown(exit, (status) =>
    process.stdout.write("", () =>
      process.stderr.write("", () => end(status || Number(process.exitCode ?? 0)))
    )
  )

/** A log that cannot be written is no reason to end; whoever reads the output of a command and goes ends it. */
const outliveOutput = () => {
  process.stderr.on("error", () => {})
  process.stdout.on("error", () => process.exit(1))
}

/** Does what the arguments of the process say, and ends the process. */
export const run = (version: string): void => {
  endFirmly()
  outliveOutput()
  answer(version, process.argv.slice(2)).pipe(
    withFittingColours,
    logTo({ format: "text", write: console.error }),
    Effect.provide(
      Layer.mergeAll(NodeContext.layer, HttpClient.layer, Layer.succeed(CliConfig.CliConfig, cliConfig))
    ),
    NodeRuntime.runMain({ disableErrorReporting: true, disablePrettyLogger: true, teardown })
  )
}
