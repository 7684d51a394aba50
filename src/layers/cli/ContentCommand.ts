/**
 * Commands of the content: run in the running controller, or else here as a task of its configuration.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Path from "@effect/platform/Path"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { readPlainText } from "../../files/readPlainText.ts"
import { sha256OfText } from "../../files/sha256.ts"
import { printableJson } from "../../internal/printable.ts"
import { CommandBus } from "../../services/CommandBus.ts"
import { EventBus } from "../../services/EventBus.ts"
import { IpcClient } from "../../services/IpcClient.ts"
import type { Plugin } from "../../services/Plugin.ts"
import { SavesNothing } from "../../services/VersionStore.ts"
import * as IpcClientSocket from "../control/IpcClientSocket.ts"
import { runTask } from "../controller/Controller.ts"
import * as ControllerServices from "../controller/ControllerServices.ts"
import { inFile, type LoadedConfiguration } from "../controller/loadConfiguration.ts"
import * as Configuration from "./Configuration.ts"
import { chooseContent } from "./chooseContent.ts"
import { CliError, type VitrineModule } from "./command.ts"
import { setExitStatus } from "./processExit.ts"
import type { Arguments, CommandName, Options } from "./program.ts"
import { logTo } from "./terminal/log.ts"
import { makeProgressDisplay, type ProgressDisplay, withProgress } from "./terminal/progress.ts"

interface Asked {
  /** The type without the name of the content. */
  readonly command: { readonly type: string }
  /** The message after an interruption, if the command runs in the controller or here. Default for both: `Interrupted.` */
  readonly interrupted?: { readonly there: string; readonly here: string }
  /** Whether it needs only the versions on disk: no source, no other plugin and no services. */
  readonly isOnDisk: boolean
  /** Whether it checks the current configuration file: a controller that runs with another text is not asked. It saves nothing. */
  readonly triesConfiguration?: boolean
}

interface ContentCommand<A, I> extends Omit<Asked, "command"> {
  /** As in `content.fetch`. */
  readonly name: CommandName
  /** The fields of the command except its type. */
  readonly fields?: (...args: Arguments) => Readonly<Record<string, string | undefined>>
  /** The result of the command; `--json` prints it unchanged. */
  readonly result: Schema.Schema<A, I>
  /** The result as text for people. */
  readonly text: (result: A, context: TextContext) => string
  /** Whether the exit status is 1. Default: never. */
  readonly isFailure?: (result: A) => boolean
  /** What failed, for people, on stderr. Default nothing. */
  readonly failureText?: (result: A, context: TextContext) => string
}

export interface TextContext {
  /** Whether it ran in this process, and not in a controller. */
  readonly isHere: boolean
  /** In milliseconds since 1970. */
  readonly now: number
}

export const make =
  <A, I>({
    failureText,
    fields = () => ({}),
    isFailure = () => false,
    name,
    result: schema,
    text,
    ...asked
  }: ContentCommand<A, I>) =>
  (
    options: Options,
    ...args: Arguments
  ): Effect.Effect<void, Error, FileSystem.FileSystem | Path.Path | HttpClient.HttpClient | VitrineModule> =>
    Effect.gen(function* () {
      const command = { ...fields(...args), type: name }
      const { isHere, result } = yield* runCommand(options, { ...asked, command })
      const decoded = yield* Effect.mapError(Schema.decodeUnknown(schema)(result), () =>
        isHere ? wrongPlugin(name) : otherProgram()
      )
      const now = yield* Clock.currentTimeMillis
      const context = { isHere, now }
      yield* Console.log(options.json ? printableJson(decoded, 2) : text(decoded, context))
      if (isFailure(decoded)) {
        setExitStatus("failure")
        yield* failureText === undefined ? Effect.void : Console.error(failureText(decoded, context))
      }
    })

/** The commands of a content, with their default names. */
const eventsOf = <Event extends { readonly name: string }, E>(
  content: string,
  events: Stream.Stream<Event, E>
) =>
  Stream.filter(events, ({ name }) => name.startsWith(`${content}:`)).pipe(
    Stream.map((event) => ({ ...event, name: event.name.replace(content, "content") }))
  )

/** The result of the command, and where it ran. */
const runCommand = (options: Options, asked: Asked) =>
  Effect.gen(function* () {
    const path = yield* Path.Path
    const file = yield* Configuration.locate(options)
    const display = yield* makeProgressDisplay
    const { here: endedHere, there: endedThere } = asked.interrupted ?? {}
    const here = runHere(options, file, asked, display).pipe(
      Effect.onInterrupt(() => reportInterrupted(display, endedHere)),
      Configuration.keepPrivate(file, options),
      Effect.map((result) => ({ result, isHere: true }))
    )
    return yield* runThere(options, file, asked, display).pipe(
      Effect.onInterrupt(() => reportInterrupted(display, endedThere)),
      Effect.map((result) => ({ result, isHere: false })),
      Effect.provide(IpcClientSocket.layerOfFolder(path.dirname(file), options.runDir)),
      Effect.catchTags({
        "vitrine/ControllerNotRunning": () => here,
        "vitrine/OtherConfiguration": () => here
      }),
      logTo({ format: options.logFormat ?? "text", write: display.log })
    )
  }).pipe(Effect.scoped)

const runThere = Effect.fnUntraced(function* (
  options: Options,
  file: string,
  { command, triesConfiguration = false }: Asked,
  display: ProgressDisplay
) {
  const controller = yield* IpcClient
  const { configuration, pid } = yield* controller.process
  if (triesConfiguration && configuration !== undefined && configuration !== (yield* digestOf(file))) {
    yield* Effect.logInfo(
      `The controller that runs here (process ${pid}) was started with another text of this file: checking the file without that controller`
    )
    return yield* new OtherConfiguration()
  }
  const environment = triesConfiguration ? ", in the environment that it was started with" : ""
  yield* Effect.logInfo(`Asking the controller that runs here (process ${pid})${environment}`)
  const content = yield* chooseContent(options, (yield* controller.view).contents)
  const events = eventsOf(content, yield* controller.events)
  return yield* controller
    .dispatch({ ...command, type: `${content}.${command.type}` })
    .pipe(withProgress(display, events))
})

/** The controller was started with another text of the configuration file. */
const digestOf = (file: string) =>
  Effect.map(
    Effect.orElseSucceed(readPlainText(file), () => ""),
    sha256OfText
  )

class OtherConfiguration extends Data.TaggedError("vitrine/OtherConfiguration") {}

const runHere = Effect.fnUntraced(function* (
  options: Options,
  file: string,
  { command, isOnDisk, triesConfiguration = false }: Asked,
  display: ProgressDisplay
) {
  const loaded = yield* Configuration.load(file)
  const needed = isOnDisk ? onDisk(loaded) : loaded
  const task = Effect.gen(function* () {
    const { dispatch, types } = yield* CommandBus
    const events = yield* Effect.orElseSucceed(
      Effect.flatMap(EventBus, ({ subscribe }) => subscribe),
      () => Stream.empty
    )
    const contents = (yield* types).flatMap((type) => {
      const [, name] = /^(.*)\.versions$/.exec(type) ?? []
      return name === undefined ? [] : [{ name }]
    })
    const content = yield* chooseContent(options, contents)
    return yield* dispatch({ ...command, type: `${content}.${command.type}` }).pipe(
      withProgress(display, eventsOf(content, events)),
      // The name of a command says nothing to people at a terminal.
      Effect.catchTag("vitrine/CommandFailed", (failure) =>
        Effect.fail(Predicate.isError(failure.cause) ? failure.cause : failure)
      )
    )
  })
  return yield* runTask(needed, task).pipe(
    Effect.provide(ControllerServices.layer("task", needed.services, needed.identity)),
    Effect.provideService(SavesNothing, triesConfiguration),
    Effect.mapError(inFile(file))
  )
})

/** Drops services and plugins that reading the disk does not need, if the configuration has content on disk. */
const onDisk = (loaded: LoadedConfiguration): LoadedConfiguration => {
  const { services, ...others } = loaded
  return loaded.plugins.some(({ onDisk }) => onDisk !== undefined)
    ? { ...others, plugins: loaded.plugins.map(({ name, onDisk = inert(name) }) => onDisk) }
    : loaded
}

/** An empty plugin in place of another, so that positions in messages stay correct. */
const inert = (name: string): Plugin => ({ name, issues: [], setup: () => Effect.succeed(Effect.void) })

/** The other program may be a controller of another version, or no controller. */
const otherProgram = () =>
  new CliError({
    message: "The answer of the controller is not understood. Is it another version of Vitrine?"
  })

const wrongPlugin = (command: CommandName) =>
  new CliError({
    message: `A plugin of this configuration answers "${command}" with something else than expected.`
  })

/** An interrupted command has failed, because it should have ended by itself. */
const reportInterrupted = ({ log }: ProgressDisplay, message = "Interrupted.") =>
  Effect.sync(() => {
    log(message)
    setExitStatus("failure")
  })
