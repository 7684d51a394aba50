#!/usr/bin/env node

/**
 * The command line. Messages and exit statuses are decided here and nowhere else.
 */
import { readFileSync } from "node:fs"
import * as Args from "@effect/cli/Args"
import * as CliConfig from "@effect/cli/CliConfig"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as ValidationError from "@effect/cli/ValidationError"
import * as Runtime from "@effect/platform/Runtime"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import { type Configuration, runPersistent, runTask } from "./layers/controller/Controller.ts"
import { inFile, loadConfiguration } from "./layers/controller/loadConfiguration.ts"
import * as TableServer from "./layers/tableServer/TableServer.ts"
import { failureText, lineLogger } from "./layers/terminal/lineLogger.ts"
import { makeProgressDisplay, withProgress } from "./layers/terminal/ProgressDisplay.ts"
import { CommandBus } from "./services/CommandBus.ts"
import { EventBus } from "./services/EventBus.ts"

const config = Options.file("config").pipe(
  Options.withDescription("The configuration file. Default: vitrine.config.ts, .js or .mjs in this folder."),
  Options.optional
)

/** A command that was to end by itself has failed when it is interrupted. */
const reportInterrupted = Effect.zipRight(
  Console.error("Interrupted before the end; the content stays as it is."),
  Effect.sync(() => {
    process.exitCode = 1
  })
)

const start = Command.make("start", { config }, ({ config }) =>
  Effect.gen(function* () {
    const configuration = yield* loadConfiguration(config)
    yield* Effect.logInfo(`Starting with ${configuration.file}`)
    return yield* Effect.mapError(runPersistent(configuration), inFile(configuration.file))
  })
).pipe(Command.withDescription("Run the controller in the foreground, until Ctrl-C or SIGTERM."))

const fetchShown = (configuration: Configuration) =>
  Effect.gen(function* () {
    const display = yield* makeProgressDisplay
    const task = Effect.gen(function* () {
      const { dispatch } = yield* CommandBus
      const events = yield* Effect.flatMap(EventBus, ({ subscribe }) => subscribe)
      return yield* dispatch({ type: "content.fetch" }).pipe(withProgress(display, events))
    })
    return yield* Effect.provide(runTask(configuration, task), display.logging)
  }).pipe(Effect.scoped)

const fetch = Command.make("fetch", { config }, ({ config }) =>
  Effect.gen(function* () {
    const configuration = yield* loadConfiguration(config)
    const outcome = yield* fetchShown(configuration).pipe(Effect.mapError(inFile(configuration.file)))
    yield* Console.log(JSON.stringify(outcome, null, 2))
  }).pipe(Effect.onInterrupt(() => reportInterrupted))
).pipe(Command.withDescription("Fetch the content once and end."))

const tables = Command.make(
  "tables",
  {
    directory: Args.directory({ name: "DIR" }).pipe(
      Args.withDescription("The folder; each CSV or JSON file in it is a table.")
    ),
    port: Options.integer("port").pipe(
      Options.withDescription("Listening port; 0 picks a free one."),
      Options.withDefault(8730)
    ),
    attachmentPort: Options.integer("attachment-port").pipe(
      Options.withDescription("The port that attachments come from; 0 picks a free one."),
      Options.withDefault(0)
    ),
    attachmentLinkLifetime: Options.text("attachment-link-lifetime").pipe(
      Options.filterMap(Duration.decodeUnknown, 'Expected a length of time such as "10 seconds".'),
      Options.withDescription('How long the link to an attachment is good for, "10 seconds" for example.'),
      Options.withDefault(Duration.hours(2))
    ),
    host: Options.text("host").pipe(
      Options.withDescription("Interface to bind."),
      Options.withDefault("127.0.0.1")
    ),
    token: Options.text("token").pipe(
      Options.withDescription("The only access token that is accepted. Default: any."),
      Options.optional
    ),
    base: Options.text("base").pipe(
      Options.withDescription("The id of the only base there is. Default: any."),
      Options.optional
    ),
    noRateLimit: Options.boolean("no-rate-limit").pipe(
      Options.withDescription("Answer any number of requests, unlike the hosted API.")
    ),
    faults: Options.text("fault").pipe(
      Options.withDescription(
        'What goes wrong on purpose, "Objects 503 x2" for example; may be given many times.'
      ),
      Options.repeated
    )
  },
  ({ base, noRateLimit, token, ...options }) =>
    Layer.launch(
      TableServer.layer({
        ...options,
        rateLimit: !noRateLimit,
        ...Option.match(token, { onNone: () => ({}), onSome: (token) => ({ token }) }),
        ...Option.match(base, { onNone: () => ({}), onSome: (baseId) => ({ baseId }) })
      })
    )
).pipe(Command.withDescription("Serve a folder of tables as a local stand-in of the hosted table API."))

const vitrine = Command.make("vitrine").pipe(
  Command.withDescription(
    "Content delivery for installations: immutable versions on disk, announced as events."
  ),
  Command.withSubcommands([start, fetch, tables])
)

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))

const reportFailure = <E>(cause: Cause.Cause<E>) =>
  Cause.isInterruptedOnly(cause) || ValidationError.isValidationError(Cause.squash(cause))
    ? Effect.void
    : Effect.flatMap(FiberRef.get(FiberRef.currentMinimumLogLevel), (level) =>
        Console.error(failureText(cause, LogLevel.lessThanEqual(level, LogLevel.Debug)))
      )

const teardown: Runtime.Teardown = (exit, onExit) =>
  Runtime.defaultTeardown(exit, (status) => onExit(status || Number(process.exitCode ?? 0)))

/** Whatever holds up the end: who was told to end does, two seconds later at most. */
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    setTimeout(() => {
      console.error("error: Something did not stop within two seconds. Ending without it.")
      process.exit(1)
    }, 2000).unref()
  })
}

Command.run(vitrine, { name: "vitrine", version })(process.argv).pipe(
  Effect.tapErrorCause(reportFailure),
  Effect.provide(
    Layer.mergeAll(
      NodeContext.layer,
      NodeHttpClient.layer,
      Logger.replace(Logger.defaultLogger, lineLogger),
      CliConfig.layer({ showBuiltIns: false })
    )
  ),
  NodeRuntime.runMain({ disableErrorReporting: true, disablePrettyLogger: true, teardown })
)
