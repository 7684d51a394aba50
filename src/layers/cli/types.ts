/**
 * `vitrine types`
 */
import { dirname, relative } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Path from "@effect/platform/Path"
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { makePath, replaceFile } from "../../files/durable.ts"
import { explain } from "../../files/systemError.ts"
import type { KeptContent } from "../../services/Plugin.ts"
import { inFile } from "../controller/loadConfiguration.ts"
import { ConfigurationUnusable } from "../controller/locateConfiguration.ts"
import { contentTypes, readManifest } from "../types/contentTypes.ts"
import * as Configuration from "./Configuration.ts"
import { CliError, type VitrineModule } from "./command.ts"
import type { Options } from "./program.ts"
import { failureText } from "./terminal/log.ts"

type Environment = FileSystem.FileSystem | Path.Path | HttpClient.HttpClient | VitrineModule

export const run = (options: Options) =>
  Effect.gen(function* () {
    const path = yield* Path.Path
    const file = yield* Configuration.locate(options)
    const output = path.resolve(options.output ?? path.join(path.dirname(file), "vitrine.d.ts"))
    yield* options.watch === true ? keepTypes({ file, output }) : writeOnce({ file, output })
  })

export interface TypesTarget {
  /** The configuration (absolute path). */
  readonly file: string
  /** The file of the types (absolute path). */
  readonly output: string
}

const writeOnce = Effect.fnUntraced(function* (target: TypesTarget) {
  yield* Console.log(outcomeText(target, yield* writeTypes(target, yield* keptContents(target))))
}, Effect.scoped)

/** Loads the configuration again, and returns its content until the scope ends. */
const keptContents = Effect.fnUntraced(function* ({ file }: TypesTarget) {
  const { cwd, plugins } = yield* Configuration.load(file, true)
  const contents = yield* Effect.forEach(
    plugins.flatMap(({ content }) => content ?? []),
    (content) => content({ cwd })
  ).pipe(Effect.mapError(inFile(file)))
  return contents.length === 0
    ? yield* new ConfigurationUnusable({ path: file, detail: "there is no content({ … }) in its plugins." })
    : contents
})

type Outcome = "made" | "unchanged" | "unfetched"

const outcomeText = ({ file, output }: TypesTarget, outcome: Outcome): string => {
  const name = relative(dirname(file), output)
  switch (outcome) {
    case "made":
      return `made   ${name}`
    case "unchanged":
      return `kept   ${name}: nothing has changed`
    case "unfetched":
      return `kept   ${name}: there is no version of the content here. Fetch first: npx vitrine fetch`
  }
}

/** The first line of a file that was made without a version. */
const unfetched = "// Without content: what the configuration says of it. The first fetch adds the rest.\n"

/** Without a version, does not replace a file that was made with a version, as in a fresh clone: the new file would know less. */
const writeTypes = Effect.fnUntraced(function* (
  { output }: TypesTarget,
  contents: ReadonlyArray<KeptContent>
) {
  const before = yield* textOf(output)
  const isFetched = yield* Effect.every(contents, ({ directory }) =>
    Effect.map(readManifest(directory), Option.isSome)
  )
  if (!isFetched && before !== "" && !before.startsWith(unfetched)) return "unfetched" satisfies Outcome
  const text = `${isFetched ? "" : unfetched}${yield* contentTypes(contents)}`
  if (text === before) return "unchanged" satisfies Outcome
  yield* replace(output, text)
  return "made" satisfies Outcome
})

/** The text of a file; empty if it cannot be read. */
const textOf = (file: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.orElseSucceed(fs.readFileString(file), () => ""))

/** The time between two checks for changes. */
const lookEvery = "1 second"

/** Milliseconds until a retry after a failure: somebody may have corrected a file that the configuration imports. */
const retryAfter = 5000

interface Failure {
  /** The time of the first failure in a row, in milliseconds since 1970. */
  readonly since: number
  /** The last message. */
  readonly text: string
}

/**
 * Writes the types, and again whenever the configuration, a manifest or the file itself changes, for ever. A failure is printed once
 * and retried; until then the file is not changed.
 */
export const keepTypes = (target: TypesTarget): Effect.Effect<void, never, Environment> =>
  Effect.gen(function* () {
    const path = yield* Path.Path
    const manifests = yield* Ref.make<ReadonlyArray<string>>([])
    const failure = yield* Ref.make(Option.none<Failure>())

    /** Changes if there is something to do. */
    const look = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const texts = yield* Effect.forEach(
        [target.file, target.output, ...(yield* Ref.get(manifests))],
        textOf
      )
      const retries = Option.match(yield* Ref.get(failure), {
        onNone: () => 0,
        onSome: ({ since }) => Math.floor((now - since) / retryAfter)
      })
      return JSON.stringify([texts, retries])
    })

    const write = Effect.gen(function* () {
      const contents = yield* keptContents(target)
      yield* Ref.set(
        manifests,
        contents.map(({ directory }) => path.join(directory, "manifest.json"))
      )
      const outcome = yield* writeTypes(target, contents)
      yield* Ref.set(failure, Option.none())
      if (outcome === "made") yield* Console.log(outcomeText(target, outcome))
    }).pipe(Effect.scoped)

    const failed = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
      const text = failureText(cause, false)
      const now = yield* Clock.currentTimeMillis
      const before = yield* Ref.getAndUpdate(failure, (before) =>
        Option.some({
          since: Option.match(before, { onNone: () => now, onSome: ({ since }) => since }),
          text
        })
      )
      if (!Option.exists(before, (before) => before.text === text)) yield* Console.error(text)
    })

    yield* Stream.repeatEffectWithSchedule(look, Schedule.spaced(lookEvery)).pipe(
      Stream.changes,
      Stream.runForEach(() => Effect.catchAllCause(write, failed))
    )
  })

/** Replaces a file completely, and makes its folder. */
const replace = (file: string, text: string) =>
  makePath(dirname(file)).pipe(
    Effect.zipRight(replaceFile(file, text)),
    Effect.mapError((error) => new CliError({ message: `${file} could not be written: ${explain(error)}` }))
  )
