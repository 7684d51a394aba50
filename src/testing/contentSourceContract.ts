/**
 * The contract of every `ContentSource`.
 */
import { createHash } from "node:crypto"
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type {
  ContentSource,
  FetchedSource,
  FetchTarget,
  PreviousContent,
  SourceFile
} from "../services/ContentSource.ts"
import { withAdvancingClock } from "./advancingClock.ts"
import { type Case, runCase } from "./runCase.ts"

/**
 * A source, and a control for its content.
 *
 * @since 0.1.0
 * @category models
 */
export interface ContentSourceHarness {
  readonly source: ContentSource
  /** Changes the content, each time to something new. */
  readonly edit: Effect.Effect<void>
}

/**
 * The abilities of a source.
 *
 * @since 0.1.0
 * @category models
 */
export interface ContentSourceTraits {
  /** Whether it can be polled for changes. Default false. */
  readonly polls?: boolean | undefined
}

/**
 * `make` gives a new harness each time. The tests run by `TestClock`, which goes on whenever the source waits and no
 * request or file is in progress. Real files and sockets are allowed, except idle connections that are kept open.
 *
 * @since 0.1.0
 * @category testing
 */
export const contentSourceContract = (
  name: string,
  make: Effect.Effect<ContentSourceHarness, unknown, Scope.Scope>,
  { polls = false }: ContentSourceTraits = {}
) => {
  const setUp = Effect.gen(function* () {
    const { edit, source } = yield* make

    const fetch = (options: Partial<FetchTarget> = {}) => fetchChecked(source, options)

    const poll = (cursor: Option.Option<string>) =>
      Effect.gen(function* () {
        expect(source.poll).toBeDefined()
        const { value } = yield* withAdvancingClock(
          source.poll?.(cursor) ?? Effect.dieMessage("It has no poll")
        )
        return {
          cursor: Option.some(value.cursor),
          changed: value.changed,
          hasChanged: value.changed !== "nothing"
        }
      })
    return { edit, fetch, poll }
  })
  const scenario = (title: string, test: Case<Effect.Effect.Success<typeof setUp>>) =>
    it.effect(title, () => runCase(setUp, test))

  describe(`${name} as a ContentSource`, () => {
    scenario(
      "has the same fingerprint for the same content, and another for other content",
      function* ({ edit, fetch }) {
        const first = yield* fetch()
        const again = yield* fetch()
        expect(again.fingerprint).toEqual(first.fingerprint)
        expect(again.files).toEqual(first.files)
        yield* edit
        expect((yield* fetch()).fingerprint).not.toEqual(first.fingerprint)
      }
    )

    if (polls) {
      scenario(
        "finds everything at first, and then nothing while nothing changes",
        function* ({ fetch, poll }) {
          const first = yield* poll(Option.none())
          expect(first.changed).toBe("everything")
          yield* fetch()
          const second = yield* poll(first.cursor)
          expect(second.hasChanged).toBe(false)
          expect((yield* poll(second.cursor)).hasChanged).toBe(false)
        }
      )

      scenario("finds a change from every earlier cursor, at every poll", function* ({ edit, poll }) {
        const { cursor } = yield* poll(Option.none())
        yield* edit
        const found = yield* poll(cursor)
        expect(found.hasChanged).toBe(true)
        expect((yield* poll(cursor)).hasChanged).toBe(true)
        expect((yield* poll(found.cursor)).hasChanged).toBe(false)
        yield* edit
        expect((yield* poll(found.cursor)).hasChanged).toBe(true)
      })

      scenario("finds changes during a fetch", function* ({ edit, fetch, poll }) {
        const { cursor } = yield* poll(Option.none())
        let isEdited = false
        const progress = () => {
          const edits = isEdited ? Effect.void : edit
          isEdited = true
          return edits
        }
        yield* fetch({ progress })
        yield* isEdited ? Effect.void : edit
        expect((yield* poll(cursor)).hasChanged).toBe(true)
      })
    }
  })
}

/**
 * Fetches into its own folder, and returns what a version would know of it. Dies if the result of the fetch is wrong.
 */
export const fetchChecked = (source: ContentSource, options: Partial<FetchTarget> = {}) =>
  Effect.gen(function* () {
    const parent = yield* temporaryFolder
    const directory = join(parent, "target")
    yield* Effect.promise(() => mkdir(directory))
    const target = { directory, previous: Option.none(), progress: () => Effect.void, ...options }
    const { value: fetched } = yield* withAdvancingClock(source.fetch(target))
    const fingerprint = Option.some(fetched.fingerprint)
    const files = yield* Effect.promise(() => filesIn(directory))
    const beside = (yield* Effect.promise(() => readdir(parent))).filter((name) => name !== "target")
    expect(beside, "A fetch writes into its target only, and nothing beside it").toEqual([])
    if (Option.isSome(target.previous)) {
      const previous = target.previous.value
      const read = yield* Effect.promise(() => filesIn(previous.directory))
      expect(read, "A fetch only reads the folder of the version before").toEqual(previous.files)
      // With the same fingerprint, the folder is not used, and may be incomplete.
      if (Equal.equals(previous.fingerprint, fingerprint)) return previous
    }
    const mistakes = mistakesIn(fetched, files)
    expect(mistakes, mistakes.join("; ")).toEqual([])
    return { directory, fingerprint, files } satisfies PreviousContent
  })

const mistakesIn = (
  { bytes, digests = {}, documents = {} }: FetchedSource,
  files: Readonly<Record<string, SourceFile>>
): ReadonlyArray<string> => {
  const size = Object.values(files).reduce((sum, file) => sum + file.size, 0)
  return [
    ...Object.entries(digests)
      .filter(([path, digest]) => files[path]?.sha256 !== digest)
      .map(([path]) => `"digests" has no SHA-256 of the file ${path}`),
    ...Object.keys(documents)
      .filter((path) => files[path] === undefined)
      .map((path) => `"documents" has ${path}, which is no file`),
    ...(size === bytes ? [] : [`"bytes" is ${bytes}, and the files have ${size}`])
  ]
}

const temporaryFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "vitrine-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true }))
)

const filesIn = async (folder: string): Promise<Readonly<Record<string, SourceFile>>> => {
  const files: Record<string, SourceFile> = {}
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) {
      const file = join(entry.parentPath, entry.name)
      const content = await readFile(file)
      const path = file.slice(folder.length + 1).replaceAll("\\", "/")
      files[path] = { size: content.length, sha256: createHash("sha256").update(content).digest("hex") }
    }
  }
  return files
}
