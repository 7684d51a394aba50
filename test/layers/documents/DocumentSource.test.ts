import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as HashMap from "effect/HashMap"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { nextTurn } from "../../../src/internal/nextTurn.ts"
import { type Document, failedIn, Records, Value } from "../../../src/layers/documents/Document.ts"
import * as DocumentSource from "../../../src/layers/documents/DocumentSource.ts"
import { notice } from "../../../src/layers/documents/warnings.ts"
import * as HttpClientNode from "../../../src/layers/httpClient/HttpClientNode.ts"
import type { FetchTarget, PreviousContent, SourceProgress } from "../../../src/services/ContentSource.ts"
import type { SourceError } from "../../../src/services/SourceError.ts"
import { withLog } from "../../support/logged.ts"
import { filesIn } from "../../support/media.ts"
import { note, textsOf } from "../../support/warnings.ts"

const run = Effect.provide(Layer.merge(NodeContext.layer, HttpClientNode.layer))

interface Given {
  readonly documents: ReadonlyArray<Document<SourceError>>
  readonly lasting?: (value: unknown) => unknown
}

/** Fetches into its own folder each time, and returns the content as a version would know it. */
const setUp = (given: () => Given) =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const { lasting } = given()
    const source = yield* DocumentSource.make({
      options: { id: "things", expect: {}, steps: [] },
      open: () => Effect.sync(() => ({ documents: given().documents })),
      ...(lasting === undefined ? {} : { lasting })
    })
    return Effect.fnUntraced(function* (target: Partial<FetchTarget> = {}) {
      const directory = yield* fileSystem.makeTempDirectoryScoped()
      const fetched = yield* source.fetch({
        directory,
        previous: Option.none(),
        progress: () => Effect.void,
        ...target
      })
      const previous: PreviousContent = {
        directory,
        fingerprint: Option.some(fetched.fingerprint),
        files: filesIn(directory)
      }
      return { fetched, previous: Option.some(previous), directory }
    })
  })

const value = (name: string, value: unknown): Document<SourceError> => ({
  name,
  content: Value({ value: Effect.succeed(value) })
})

describe("a source of documents", () => {
  describe("that is checked between two fetches", () => {
    const checks: Readonly<Record<string, Partial<FetchTarget>>> = {
      "check of its own": { isCheck: true, isSample: true },
      "check of all sources": { isCheck: true }
    }
    for (const [name, check] of Object.entries(checks)) {
      it.scoped(`reports its warnings at the next fetch, after a ${name}`, () => {
        const log: Array<string> = []
        return Effect.gen(function* () {
          const fetch = yield* setUp(() => ({
            documents: [
              { name: "a", content: Value({ value: Effect.as(notice([note("odd")]), [{ id: 1 }]) }) }
            ]
          }))
          yield* fetch(check)
          expect(log).toEqual([])
          yield* fetch()
          expect(log).toEqual(['WARN Document "a": odd'])
        }).pipe(run, withLog(log))
      })

      it.scoped(
        `still reports that a document has become empty, after a ${name} that found records in it`,
        () =>
          Effect.gen(function* () {
            let records: ReadonlyArray<unknown> = [{ id: 1 }]
            const fetch = yield* setUp(() => ({ documents: [value("a", records)] }))
            const full = yield* fetch()
            records = []
            const empty = yield* fetch({ previous: full.previous })
            records = [{ id: 2 }]
            yield* fetch({ previous: empty.previous, ...check })
            records = []
            const { fetched } = yield* fetch({ previous: empty.previous })
            expect(textsOf(fetched.warnings)).toEqual([
              expect.stringContaining("it is empty, and had records before")
            ])
          }).pipe(run)
      )
    }
  })

  it.scoped("warns of no empty document if it has never had content", () =>
    Effect.gen(function* () {
      for (const empty of [null, [], {}]) {
        const fetch = yield* setUp(() => ({ documents: [value("a", empty)] }))
        const first = yield* fetch()
        const second = yield* fetch({ previous: first.previous })
        expect([first.fetched.warnings, second.fetched.warnings]).toEqual([undefined, undefined])
      }
    }).pipe(run)
  )

  it.scoped("has the same fingerprint if only volatile parts have changed", () =>
    Effect.gen(function* () {
      let version = 1
      const fetch = yield* setUp(() => ({
        documents: [value("a", [{ title: "Bell", version }])],
        lasting: (record) => ({ ...Object(record), version: undefined })
      }))
      const first = yield* fetch()
      version = 2
      const second = yield* fetch()
      expect(second.fetched.fingerprint).toBe(first.fetched.fingerprint)
      expect(second.fetched.digests).not.toEqual(first.fetched.digests)
    }).pipe(run)
  )

  it.scoped(
    "is refused with more than the budget: records, levels, and values of records that links repeat",
    () =>
      Effect.gen(function* () {
        const shared = Array.from({ length: 2000 }, () => 0)
        const deep = (levels: number): unknown => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`)
        const cases: ReadonlyArray<readonly [unknown, string | undefined]> = [
          [Array.from({ length: 1_000_001 }, () => 1), "1,000,000 records"],
          [{ list: deep(1000) }, "1,000 levels"],
          [{ list: deep(999) }, undefined],
          [
            Array.from({ length: 1000 }, () => ({ parts: Array.from({ length: 11 }, () => shared) })),
            "20,000,000 values"
          ],
          [{ text: ["x".repeat(128 * 1024 ** 2)] }, "134,217,728 characters"]
        ]
        for (const [content, message] of cases) {
          const fetch = yield* setUp(() => ({ documents: [value("a", content)] }))
          const refused = Either.match(yield* Effect.either(fetch()), {
            onLeft: (error) => error.message,
            onRight: () => undefined
          })
          if (message === undefined) expect(refused).toBeUndefined()
          else expect(refused).toContain(`it has more than ${message}`)
        }
      }).pipe(run)
  )

  it.scoped("lets other work go on while a large value is saved", () =>
    Effect.gen(function* () {
      const list = Array.from({ length: 900_000 }, (_, index) => `/${index}.jpg`)
      const fetch = yield* setUp(() => ({ documents: [value("a", { list })] }))
      let turns = 0
      const count = (): NodeJS.Immediate =>
        setImmediate(() => {
          turns++
          immediate = count()
        })
      let immediate = count()
      yield* fetch()
      clearImmediate(immediate)
      expect(turns).toBeGreaterThan(5)
    }).pipe(run)
  )

  it.scoped("saves long documents page by page, and reports its progress", () =>
    Effect.gen(function* () {
      const progress: Array<SourceProgress> = []
      const fetch = yield* setUp(() => ({
        documents: [
          { name: "a", content: Records({ pages: Stream.make([{ id: 1 }], [], [{ id: 2 }]) }), key: ["id"] },
          value("b", { key: "value" })
        ]
      }))
      const { fetched } = yield* fetch({ progress: (step) => Effect.sync(() => progress.push(step)) })
      expect(fetched).toMatchObject({
        records: 2,
        values: 1,
        documents: { "a.json": { key: ["id"] }, "b.json": {} }
      })
      expect(progress.map(({ document, documents, records }) => [document, documents.done, records])).toEqual(
        [
          ["a", 0, 0],
          ["a", 0, 1],
          ["a", 0, 1],
          ["a", 0, 2],
          ["b", 1, 0]
        ]
      )
    }).pipe(run)
  )

  it.scoped("warns of records without a key, and of keys that occur twice", () =>
    Effect.gen(function* () {
      const fetch = yield* setUp(() => ({ documents: [{ ...value("a", [{ id: 1 }, {}]), key: ["slug"] }] }))
      const { fetched } = yield* fetch()
      expect(textsOf(fetched.warnings)).toEqual([
        'Document "a": 2 records without slug, which is needed to compare versions. Write it.'
      ])
    }).pipe(run)
  )

  it.scoped("names itself in the error and the log of a poll", () =>
    Effect.gen(function* () {
      const lines: Array<unknown> = []
      const logger = Logger.make(({ annotations, message }) => {
        lines.push([message, HashMap.get(annotations, "source")])
      })
      const { poll } = yield* DocumentSource.make({
        options: { id: "things", expect: {}, steps: [] },
        open: () => Effect.succeed({ documents: [] }),
        poll: () =>
          Effect.zipRight(Effect.logInfo("asking"), failedIn({ document: "a" })("gone", undefined, true))
      })
      const error = yield* Effect.flip(
        Effect.flatMap(Effect.fromNullable(poll), (poll) => poll(Option.none()))
      ).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
      expect(error).toMatchObject({ _tag: "vitrine/SourceError", source: "things", isTransient: true })
      expect(error.message).toBe('Source "things": Document "a": gone')
      expect(lines).toEqual([[["asking"], Option.some("things")]])
    }).pipe(run)
  )

  it.scopedLive("lets other work go on while it saves a long list", () =>
    Effect.gen(function* () {
      const fileSystem = yield* FileSystem.FileSystem
      const long = Array.from({ length: 200_000 }, (_, id) => ({ title: "Bell", id }))
      const fetch = yield* setUp(() => ({ documents: [value("list", long)] }))
      let turns = 0
      yield* Effect.forkScoped(
        Effect.forever(
          Effect.zipRight(
            nextTurn,
            Effect.sync(() => turns++)
          )
        )
      )
      const { directory } = yield* fetch()
      expect(turns).toBeGreaterThan(5)
      const lines = long.map(({ id }) => `{"id":${id},"title":"Bell"}`)
      const saved = yield* fileSystem.readFileString(`${directory}/list.json`)
      expect(saved === `[\n${lines.join(",\n")}\n]\n`).toBe(true)
    }).pipe(run)
  )
})
