/**
 * Rules, and the worlds in which they are tried. The content of a world is fetched as `content({ sources })` of a
 * configuration fetches it, from a real server or folder.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as TestServices from "effect/TestServices"
import { content } from "../../src/index.ts"
import * as ContentServer from "../../src/layers/contentServer/ContentServer.ts"
import * as ControllerStateMemory from "../../src/layers/controller/ControllerStateMemory.ts"
import * as HttpClientNode from "../../src/layers/httpClient/HttpClientNode.ts"
import * as CommandBusMemory from "../../src/layers/memory/CommandBusMemory.ts"
import * as EventBusMemory from "../../src/layers/memory/EventBusMemory.ts"
import * as ReplayBacklogMemory from "../../src/layers/memory/ReplayBacklogMemory.ts"
import * as RequestPacingMemory from "../../src/layers/memory/RequestPacingMemory.ts"
import { contentTypes } from "../../src/layers/types/contentTypes.ts"
import { CommandBus } from "../../src/services/CommandBus.ts"
import type { ContentSourceDefinition, SourceChanges } from "../../src/services/ContentSource.ts"
import { ControllerState } from "../../src/services/ControllerState.ts"
import type { SourceError } from "../../src/services/SourceError.ts"
import { Warning } from "../../src/services/Warning.ts"
import { withAdvancingClock } from "../../src/testing.ts"
import { withLog } from "../support/logged.ts"
import { makeReplica } from "../support/replica.ts"
import { memoryServices } from "../support/transport.ts"
import type { Change } from "./front.ts"
import { type Options, type ReaderName, readerNames, readers, type Stand, type World } from "./readers.ts"

/** Why a rule does not apply to a reader. */
export const reasons = {
  n: "names stand in the configuration",
  s: "the system has no such state, or does not tell it",
  k: "the system itself refuses it",
  i: "files have ids there",
  p: "no poll: everything is asked at each fetch",
  g: "a function of the user: only what it reads through `get`"
} as const

/** `●` runs. The others are reasons, and stand in the table of the documentation. */
export type Cell = "●" | keyof typeof reasons

export interface Rule {
  readonly number: number
  /** For people. */
  readonly sentence: string
  /** What comes out: refuse, warn, right. */
  readonly out: string
  readonly cells: ReadonlyArray<readonly [reader: ReaderName, cell: Cell]>
  /** Fails with an assertion if the reader does not follow the rule. */
  readonly test: (museum: Museum) => Effect.Effect<void, unknown, Scope.Scope>
}

/** A rule, with a cell for each reader in their order: `"● n ● k k k g"`. */
export const rule = (
  number: number,
  sentence: string,
  out: string,
  cells: string,
  test: (museum: Museum) => Effect.fn.Return<void, unknown, Scope.Scope>
): Rule => ({
  number,
  sentence,
  out,
  cells: readerNames.map((reader, index) => [reader, decodeCell(cells.split(" ")[index])]),
  test: (museum) => Effect.gen(() => test(museum))
})

/** Tries each rule with each reader that it applies to. */
export const tryRules = (rules: ReadonlyArray<Rule>): void => {
  for (const { cells, number, sentence, test } of rules) {
    describe(`rule ${number}: ${sentence}`, () => {
      for (const [reader, cell] of cells) {
        if (cell === "●") {
          it.scoped(`holds for ${reader}`, () => test(museumOf(reader)))
        }
      }
    })
  }
}

const decodeCell = Schema.decodeUnknownSync(Schema.Literal("●", "n", "s", "k", "i", "p", "g"))

/** The part of the content's slice with the warnings of its source. */
const Slice = Schema.Struct({
  sources: Schema.Record({
    key: Schema.String,
    value: Schema.Struct({
      lastSuccess: Schema.optional(Schema.Struct({ warnings: Schema.optional(Schema.Array(Warning)) }))
    })
  })
})

/** The active version. */
export interface Kept {
  /** The paths of the saved files. */
  readonly files: ReadonlyArray<string>
  /** Each record with its id as `id`, whatever the vendor calls it. */
  readonly records: (document: string) => ReadonlyArray<Saved>
  /** The document as it is on disk. */
  readonly text: (document: string) => string
  /** The bytes of the file that a saved value leads to. */
  readonly file: (value: unknown) => Buffer
}

/** What a fetch leaves behind. */
export interface Outcome extends Kept {
  /** The message of a fetch that is refused. */
  readonly error: string | undefined
  /** Whether there is a new version. */
  readonly changed: boolean
  readonly warnings: ReadonlyArray<Warning>
  /** The lines of the log since the content was opened. */
  readonly log: ReadonlyArray<string>
}

export type Saved = Readonly<Record<string, unknown>>

/** A reader, at which a rule opens its worlds. */
export interface Museum {
  readonly reader: ReaderName
  /** Content of this world, which nobody has fetched yet. */
  readonly open: (world: World, options?: Options) => Effect.Effect<Opened, unknown, Scope.Scope>
  /** Tries each case, and fails with all that went wrong. */
  readonly each: <A>(
    cases: Readonly<Record<string, A>>,
    test: (value: A, name: string) => Effect.fn.Return<void, unknown, Scope.Scope>
  ) => Effect.Effect<void, unknown, Scope.Scope>
}

export interface Opened {
  /** Changes the world. */
  readonly give: (world: World) => void
  readonly fetch: Effect.Effect<Outcome>
  /** The declaration of the types of its content. */
  readonly types: Effect.Effect<string, unknown>
  /** Whether a fetch would change anything; `undefined` if it fails. */
  readonly check: Effect.Effect<boolean | undefined>
  /** What the next poll finds, "everything" for a source that is fetched at each tick. */
  readonly poll: Effect.Effect<SourceChanges["changed"] | SourceError, unknown>
  /**
   * Lets the controller run for this long, with a tick at each minute. Gives the problems that its dashboard has then,
   * and what is saved. Somebody changes the world meanwhile, if `writing` does so.
   */
  readonly run: (
    duration: Duration.DurationInput,
    writing?: () => void
  ) => Effect.Effect<Kept & { readonly problems: ReadonlyArray<string> }, unknown>
  /** Calls `use` with the content as a page has it on a player, which copies versions from the museum's controller. */
  readonly onPlayer: (use: (page: Page) => Promise<void>) => Effect.Effect<void, unknown>
  /** A fetch of the same source into another folder, where nothing was saved before. */
  readonly fresh: Effect.Effect<Outcome, unknown, Scope.Scope>
}

/** A version as `vitrine/client` gives it to a page. */
export interface Page {
  readonly url: (source: string, path: string) => string
  readonly table: (source: string, name: string) => Promise<unknown>
}

type OpenVersion = (manifest: unknown, context: object) => Promise<Page>

// Its types need those of browsers.
const client = new URL("../../src/layers/client/Version.ts", import.meta.url).href
const { openVersion } = Schema.decodeUnknownSync(
  Schema.Struct({
    openVersion: Schema.declare((input): input is OpenVersion => Predicate.isFunction(input))
  })
)(await import(client))

export const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "vitrine-rules-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const platform = Layer.merge(NodeContext.layer, HttpClientNode.layer)

const services = Layer.mergeAll(
  ReplayBacklogMemory.layer,
  EventBusMemory.layer,
  CommandBusMemory.layer,
  ControllerStateMemory.layer("persistent"),
  platform
)

const isAssertion = (error: unknown): error is Error =>
  error instanceof Error && error.name === "AssertionError"

/** What the assertions of an effect say against it; another failure is a mistake in the test. */
export const objectionTo = <E, R>(effect: Effect.Effect<void, E, R>) =>
  Effect.flatMap(Effect.exit(effect), (exit) => {
    if (Exit.isSuccess(exit)) return Effect.succeed(undefined)
    const error = Cause.squash(exit.cause)
    return isAssertion(error) ? Effect.succeed(error.message) : Effect.failCause(exit.cause)
  })

export const museumOf = (reader: ReaderName): Museum => ({
  reader,
  open: (world, options = {}) =>
    Effect.gen(function* () {
      const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
      const { accept, opened } = yield* Scope.extend(openAt(reader, world, options), scope)
      // Every warning of a rule can be accepted.
      yield* Effect.addFinalizer(() => accept)
      return opened
    }),
  each: (cases, test) =>
    Effect.gen(function* () {
      const objections: Array<string> = []
      for (const [name, value] of Object.entries(cases)) {
        const objection = yield* objectionTo(Effect.scoped(Effect.gen(() => test(value, name))))
        if (objection !== undefined) objections.push(`${name}: ${objection}`)
      }
      expect(objections, objections.join("\n")).toEqual([])
    })
})

const openAt = Effect.fnUntraced(function* (reader: ReaderName, world: World, options: Options) {
  const stand: Stand = yield* Effect.flatMap(Layer.build(platform), (context) =>
    Effect.provide(readers[reader], context)
  )
  stand.give(world)
  const { accept, ...content } = yield* contentOf(stand.source(options))
  const fresh = Effect.suspend(() => contentOf(stand.source(options))).pipe(
    Effect.flatMap(({ fetch }) => fetch)
  )
  const made = stand.source(options).make
  const environment = yield* Layer.build(Layer.merge(platform, RequestPacingMemory.layer))
  const scope = yield* Effect.scope
  const making = yield* Effect.cached(Scope.extend(Effect.provide(made, environment), scope))
  let cursor = Option.none<string>()
  const poll: Opened["poll"] = Effect.gen(function* () {
    const source = yield* making
    if (source.poll === undefined) return "everything"
    const { value } = yield* withAdvancingClock(Effect.either(source.poll(cursor)))
    if (Either.isLeft(value)) return value.left
    cursor = Option.some(value.right.cursor)
    return value.right.changed
  })
  return { accept, opened: { ...content, give: stand.give, fresh, poll } }
})

/** Runs while somebody writes without a pause, if `writing` is given. */
const whileWriting = <A, E, R>(effect: Effect.Effect<A, E, R>, writing?: () => void) =>
  writing === undefined
    ? effect
    : Effect.scoped(
        Effect.zipRight(
          Effect.forkScoped(
            Effect.forever(Effect.zipRight(Effect.sync(writing), Effect.sleep("900 millis")))
          ),
          effect
        )
      )

/** Runs in the time of the machine, which processes need. */
const inRealTime = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.map(effect, (value) => ({ value }))

/** Content of one source, in a folder that may have versions of it. */
export const contentOf = Effect.fnUntraced(function* (
  source: ContentSourceDefinition,
  folder?: string,
  isRealTime = false
) {
  const inTime = isRealTime ? inRealTime : withAdvancingClock
  const context = yield* Layer.build(services)
  return yield* Effect.gen(function* () {
    const cwd = folder ?? (yield* temporary)
    const log: Array<string> = []
    const downloads = join(cwd, "downloads")
    const plugin = content({ sources: [source], fetchEvery: "1 minute", settle: 0 })
    const start = yield* Effect.cached(
      withLog(log)(yield* plugin.setup({ cwd, addLogger: () => Effect.void }))
    )
    const { dispatch } = yield* CommandBus
    const { read, state } = yield* ControllerState
    let given: ReadonlyArray<Warning> = []
    const run = (type: "content.fetch" | "content.check") =>
      Effect.map(inTime(Effect.either(withLog(log)(dispatch({ type })))), ({ value }) => value)
    const fetch = Effect.gen(function* () {
      const result = yield* run("content.fetch")
      const error = Either.match(result, { onLeft: ({ message }) => message, onRight: () => undefined })
      const { plugins } = yield* state
      const { sources } = Schema.decodeUnknownSync(Slice)(plugins.content)
      const warnings = error === undefined ? (sources[source.id]?.lastSuccess?.warnings ?? []) : []
      given = warnings
      const changed = Either.isRight(result) && decodeChanged(result.right).changed
      return { error, changed, warnings, log, ...savedIn(downloads, source.id) }
    })
    const name = ({ code, subject }: Warning) => `${code} ${subject}`
    const accept = Effect.gen(function* () {
      if (given.length === 0) return
      const named = given.map(name)
      for (const { code, subject } of given) {
        yield* Effect.ignore(dispatch({ type: "content.accept", code, subject }))
      }
      const { error, warnings } = yield* fetch
      const left = error === undefined ? warnings.map(name).filter((name) => named.includes(name)) : []
      expect(left, "warnings that were accepted").toEqual([])
    })
    const check = Effect.map(run("content.check"), (result) =>
      Either.isRight(result) ? decodeCheck(result.right).sources.some(({ changed }) => changed) : undefined
    )
    const types = Effect.suspend(
      () => plugin.content?.({ cwd }) ?? Effect.dieMessage("It keeps no content.")
    ).pipe(
      Effect.flatMap((kept) => contentTypes([kept])),
      Effect.scoped,
      Effect.provide(context)
    )
    const running: Opened["run"] = (duration, writing) =>
      Effect.gen(function* () {
        yield* start
        yield* inTime(whileWriting(Effect.sleep(duration), writing))
        const { view } = yield* read
        const problems = view.problems.map(({ code, text }) => `${code} ${text}`)
        return { problems, ...savedIn(downloads, source.id) }
      }).pipe(Effect.provide(context))
    return { accept, fetch, types, check, run: running, onPlayer: onPlayer(downloads) }
  }).pipe(Effect.provide(context))
})

const serve = (downloadPath: string) =>
  Effect.map(
    Effect.provide(ContentServer.make({ downloadPath, port: 0 }), memoryServices()),
    ({ address }) => `http://127.0.0.1:${Option.getOrThrow(address).port}`
  )

const onPlayer = (downloads: string) => (use: (page: Page) => Promise<void>) =>
  Effect.gen(function* () {
    const player = yield* makeReplica(yield* serve(downloads))
    yield* player.fetchLive
    const content = yield* serve(player.folder)
    yield* Effect.promise(async (signal) => {
      const manifest = await (await globalThis.fetch(`${content}/manifest.json`, { signal })).json()
      await use(
        await openVersion(manifest, { content, signal, report: () => {}, used: new Map(), kept: undefined })
      )
    })
  }).pipe(Effect.scoped, Effect.provide(platform), TestServices.provideLive)

const Changed = Schema.Struct({ changed: Schema.Boolean })
const decodeChanged = Schema.decodeUnknownSync(Changed)
const decodeCheck = Schema.decodeUnknownSync(Schema.Struct({ sources: Schema.Array(Changed) }))

/** The active version of the source. */
const savedIn = (downloads: string, sourceId: string): Kept => {
  const manifest = join(downloads, "manifest.json")
  const { versionId } = existsSync(manifest)
    ? decodeManifest(readFileSync(manifest, "utf8"))
    : { versionId: "none" }
  const directory = join(downloads, "versions", versionId, sourceId)
  const text = (document: string) => readFileSync(join(directory, `${document}.json`), "utf8")
  const records = (document: string): ReadonlyArray<Saved> =>
    parseRecords(text(document)).map(({ _id, documentId, ...record }) => ({
      ...record,
      id: _id ?? documentId ?? record.id
    }))
  const entries = existsSync(directory)
    ? readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    : []
  return {
    files: entries.map(({ name, parentPath }) => join(parentPath, name).slice(directory.length + 1)).sort(),
    text,
    records,
    file: (value: unknown) => {
      const path = pathOf(value)
      expect(existsSync(join(directory, path)), `there is a file ${JSON.stringify(path)}`).toBe(true)
      return readFileSync(join(directory, path))
    }
  }
}

const decodeManifest = Schema.decodeUnknownSync(Schema.parseJson(Schema.Struct({ versionId: Schema.String })))
const Records = Schema.Array(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
const parseRecords = Schema.decodeUnknownSync(Schema.parseJson(Records))
export const decodeRecords = Schema.decodeUnknownSync(Records)

/** The path in a value: a text in a folder, an object with its `localPath`, or a list of those. */
export const pathOf = (value: unknown): string => {
  if (Array.isArray(value)) return pathOf(value[0])
  const path = Predicate.hasProperty(value, "localPath") ? value.localPath : value
  expect(path, "the path of the file").toBeTypeOf("string")
  return String(path)
}

const wordsOf = ({ error, warnings }: Outcome): string =>
  error === undefined
    ? warnings.length === 0
      ? "it was saved without a word"
      : `it was saved with ${warnings.map(({ text }) => JSON.stringify(text)).join(", ")}`
    : `it was refused: ${error}`

/** Asserts that the fetch is refused, with a message that names all these. */
export const refused = (outcome: Outcome, ...names: ReadonlyArray<string>): void => {
  const isRight = outcome.error !== undefined && names.every((name) => outcome.error?.includes(name))
  expect(isRight, `refused, naming ${names.join(" and ")}; but ${wordsOf(outcome)}`).toBe(true)
}

/** Asserts that it is published, with a warning of this code that names all these. */
export const warned = (outcome: Outcome, code: string, ...names: ReadonlyArray<string>): void => {
  const isAbout = (warning: Warning) =>
    warning.code === code && names.every((name) => `${warning.subject} ${warning.text}`.includes(name))
  const isRight = outcome.error === undefined && outcome.warnings.some(isAbout)
  expect(isRight, `a warning that names ${names.join(" and ")}; but ${wordsOf(outcome)}`).toBe(true)
}

/** Asserts that it is published, with or without warnings. */
export const published = (outcome: Outcome): Outcome => {
  expect(outcome.error, wordsOf(outcome)).toBe(undefined)
  return outcome
}

/** Changes a document's answers and its file as text, in UTF-8 unless the new body says otherwise. */
export const inDocument =
  (name: string, change: (text: string) => string | Buffer): Change =>
  ({ body, url }) =>
    decodeURIComponent(url).includes(name) && !url.startsWith("/files/")
      ? { body: Buffer.from(change(body.toString())) }
      : {}

/** Asserts that it is published without a warning. */
export const quiet = (outcome: Outcome): void => {
  expect(outcome.error === undefined && outcome.warnings.length === 0, wordsOf(outcome)).toBe(true)
}
