import { SystemError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { FileListJson, filesOf } from "../../../../src/files/FileList.ts"
import { InvalidOptions } from "../../../../src/internal/Options.ts"
import * as RequestPacingMemory from "../../../../src/layers/memory/RequestPacingMemory.ts"
import { attachments } from "../../../../src/layers/sources/tables/AirtableClient.ts"
import { tableSource } from "../../../../src/layers/sources/tables/airtableSource.ts"
import * as TableSource from "../../../../src/layers/sources/tables/TableSource.ts"
import * as VersionStoreDisk from "../../../../src/layers/versions/VersionStoreDisk.ts"
import type { SourceProgress } from "../../../../src/services/ContentSource.ts"
import {
  TableError,
  type TableRecord,
  TableSourceClient
} from "../../../../src/services/TableSourceClient.ts"
import * as TableSourceClientMemory from "../../../../src/testing/TableSourceClientMemory.ts"
import { records } from "../../../../src/testing/tableSourceClientContract.ts"
import { type FileCounts, withCountedFiles } from "../../../support/countedFiles.ts"
import * as ScriptedServer from "../../../support/ScriptedServer.ts"
import { sha256 } from "../../../support/sha256.ts"

const savedList = (list: ReadonlyArray<unknown>): string =>
  list.length === 0 ? "[]\n" : `[\n${list.map((record) => JSON.stringify(record)).join(",\n")}\n]\n`

const options: Parameters<typeof TableSource.make>[0] = {
  id: "exhibits",
  defaultView: "Grid view",
  tables: ["Objects"],
  keyValueTables: ["Settings"],
  appendLocalAttachmentPaths: true,
  maxTimeout: 60_000
}

/** Fetches tables from memory into their own folder. */
const setUp = ({
  pageSize = 2,
  ...overrides
}: Partial<typeof options> & { readonly pageSize?: number } = {}) =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const memory = yield* TableSourceClientMemory.make({ attachments, pageSize })
    const source = yield* TableSource.make({ ...options, ...overrides }).pipe(
      Effect.provideService(TableSourceClient, memory.client)
    )
    const progress: Array<SourceProgress> = []
    const logs: Array<string> = []
    const logger = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ message }) => {
        logs.push(String(message))
      })
    )
    const directory = yield* fileSystem.makeTempDirectoryScoped()
    const fetchTelling = (report: (step: SourceProgress) => Effect.Effect<void>) =>
      Effect.provide(source.fetch({ directory, previous: Option.none(), progress: report }), logger)
    return {
      ...memory,
      source,
      directory,
      fetchTelling,
      fetch: fetchTelling((step) => Effect.sync(() => progress.push(step))),
      progress,
      logs,
      file: (name: string) => fileSystem.readFileString(`${directory}/${name}`),
      files: Effect.map(fileSystem.readDirectory(directory), (names) => [...names].sort())
    }
  })

/** All files of attachments have one byte. */
const oneByteFiles = Layer.succeed(
  HttpClient.HttpClient,
  HttpClient.make((request) =>
    Effect.succeed(HttpClientResponse.fromWeb(request, new Response("x", { status: 200 })))
  )
)

const run = Effect.provide(Layer.merge(NodeContext.layer, oneByteFiles))

const photo = (signature: string, id = "att1") => ({
  id,
  url: `https://files.example/${signature}`,
  filename: "a.png",
  thumbnails: { small: { url: `https://files.example/small/${signature}` } }
})

describe("a fetch", () => {
  it.scoped("saves every table to its file, and reports its progress", () =>
    Effect.gen(function* () {
      const { fetch, file, files, progress, setTable } = yield* setUp({ tables: ["Räume/1", "None"] })
      yield* setTable("Räume/1", records(3))
      yield* setTable("None", [])
      yield* setTable("Settings", [{ id: "rec1", fields: { key: "on", value: "true" } }])
      expect(yield* fetch).toMatchObject({
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
        records: 3,
        values: 1,
        bytes: 101,
        attachments: { total: 0, bytes: 0, reused: 0 }
      })
      expect(yield* files).toEqual(["None.json", "Räume%2F1.json", "Settings.json"].sort())
      expect(yield* file("Räume%2F1.json")).toBe(
        savedList(records(3).map(({ fields, id }) => ({ id, ...fields })))
      )
      expect(yield* file("None.json")).toBe("[]\n")
      expect(yield* file("Settings.json")).toBe('{\n  "on": true\n}\n')
      const step = (document: string, done: number, records: number) => ({
        document,
        documents: { done, total: 3 },
        records
      })
      expect(progress).toEqual([
        step("Räume/1", 0, 0),
        step("Räume/1", 0, 2),
        step("Räume/1", 0, 3),
        step("None", 1, 0),
        step("None", 1, 0),
        step("Settings", 2, 0)
      ])
    }).pipe(run)
  )

  it.scoped.prop(
    "saves the text of JSON.stringify, with any pages",
    [
      FastCheck.array(
        FastCheck.dictionary(FastCheck.string({ maxLength: 3 }), FastCheck.jsonValue({ maxDepth: 2 })),
        {
          maxLength: 8
        }
      ),
      FastCheck.integer({ min: 1, max: 4 })
    ],
    ([cells, pageSize]) =>
      Effect.gen(function* () {
        const { fetch, file, setTable } = yield* setUp({ keyValueTables: [], pageSize })
        const rows = cells.map(({ id, id_, ...fields }, index) => {
          const parsed: TableRecord["fields"] = JSON.parse(JSON.stringify(fields))
          return { id: `rec${index}`, fields: parsed }
        })
        yield* setTable("Objects", rows)
        yield* fetch
        const text = yield* file("Objects.json")
        const saved: unknown = JSON.parse(text)
        expect(Array.isArray(saved) && savedList(saved)).toBe(text)
        expect(saved).toEqual(rows.map(({ fields, id }) => ({ id, ...fields })))
      }).pipe(run),
    { fastCheck: { numRuns: 20 } }
  )

  it.scoped("replaces what it wrote before the list expired", () =>
    Effect.gen(function* () {
      const { expireCursors, fetchTelling, file, logs, setTable } = yield* setUp({ keyValueTables: [] })
      yield* setTable("Objects", records(4))
      const counts: Array<number> = []
      const fetched = yield* fetchTelling((step) => {
        counts.push(step.records)
        return counts.length === 2 ? expireCursors : Effect.void
      })
      expect(counts).toEqual([0, 2, 2, 4])
      expect(fetched.records).toBe(4)
      expect(JSON.parse(yield* file("Objects.json"))).toEqual(
        records(4).map(({ fields, id }) => ({ id, ...fields }))
      )
      expect(logs).toEqual([expect.stringContaining("read again from its beginning")])
    }).pipe(run)
  )

  it.scoped("names the file that it cannot write", () =>
    Effect.gen(function* () {
      const isFull = new SystemError({ module: "FileSystem", method: "open", reason: "Unknown" })
      for (const [name, overrides] of [
        ["Objects", { keyValueTables: [] }],
        ["Settings", { tables: [] }]
      ] as const) {
        const { directory, fetch, setTable } = yield* Effect.updateService(
          setUp({ ...overrides }),
          FileSystem.FileSystem,
          (disk) => FileSystem.FileSystem.of({ ...disk, open: () => isFull })
        )
        yield* setTable(name, [])
        expect((yield* Effect.flip(fetch)).message).toContain(`cannot write ${directory}/${name}.json: `)
      }
    }).pipe(run)
  )

  it.scoped("saves a column named id under another name, with a warning", () =>
    Effect.gen(function* () {
      const { fetch, file, logs, setTable } = yield* setUp({ keyValueTables: [] })
      yield* setTable("Objects", [{ id: "rec1", fields: { id: 5 } }])
      yield* fetch
      expect(JSON.parse(yield* file("Objects.json"))).toEqual([{ id: "rec1", id_: 5 }])
      expect(logs).toEqual([
        'Table "Objects": the column "id" is saved as "id_", because "id" is the record\'s own'
      ])
    }).pipe(run)
  )

  it.scoped("fails if two columns would be saved as one, even if no record has both", () =>
    Effect.gen(function* () {
      const { fetch, setTable } = yield* setUp({ keyValueTables: [], pageSize: 1 })
      yield* setTable("Objects", [
        { id: "rec1", fields: { id: 5 } },
        { id: "rec2", fields: { id_: 6 } }
      ])
      const error = yield* Effect.flip(fetch)
      expect(error.message).toBe(
        'Source "exhibits": Table "Objects": the columns "id" and "id_" would both be saved as "id_"; rename one of them'
      )
    }).pipe(run)
  )

  it.scoped("reports the warnings of a key/value table", () =>
    Effect.gen(function* () {
      const { fetch, logs, setTable } = yield* setUp({ tables: [] })
      yield* setTable("Settings", [{ id: "rec1", fields: {} }])
      yield* fetch
      expect(logs).toEqual([
        'Table "Settings": 1 row has no text in the column "key" and is left out (rec1). Write a key.'
      ])
      yield* setTable("Settings", [
        { id: "rec1", fields: { key: "a" } },
        { id: "rec2", fields: { key: "a[0]" } }
      ])
      expect((yield* Effect.flip(fetch)).message).toContain("rec1, rec2")
    }).pipe(run)
  )

  it.scoped("fails as a whole if a table fails", () =>
    Effect.gen(function* () {
      const { failNext, fetch, setTable } = yield* setUp()
      yield* setTable("Objects", records(1))
      expect((yield* Effect.flip(fetch)).message).toBe(
        'Source "exhibits": Table "Settings": there is no such table'
      )
      const refusal = new TableError({ table: "Objects", reason: "Refused", detail: "the server's words" })
      yield* failNext(refusal)
      const error = yield* Effect.flip(fetch)
      expect(error).toMatchObject({ _tag: "vitrine/SourceError", source: "exhibits" })
      expect(error.cause).toMatchObject({ _tag: "vitrine/TableError", reason: "Refused" })
    }).pipe(run)
  )

  it.scoped.each([
    ["Unreachable", true],
    ["Timeout", true],
    ["Unauthorized", false],
    ["NotFound", false],
    ["Refused", false],
    ["RateLimited", true],
    ["ServerError", true],
    ["UnexpectedAnswer", false]
  ] as const)("fails with an error that is transient or not: %s", ([reason, isTransient]) =>
    Effect.gen(function* () {
      const { failNext, fetch, setTable } = yield* setUp()
      yield* setTable("Objects", records(1))
      yield* failNext(new TableError({ table: "Objects", reason, detail: "the server's words" }))
      expect(yield* Effect.flip(fetch)).toMatchObject({ isTransient })
      yield* failNext(new TableError({ table: "Objects", reason, detail: "…", isLasting: true }))
      expect(yield* Effect.flip(fetch)).toMatchObject({ isTransient: false })
    }).pipe(run)
  )

  it.scoped("fails with a readable message if a cell is nested too deeply", () =>
    Effect.gen(function* () {
      const { fetch, setTable } = yield* setUp({ keyValueTables: [] })
      const deep: unknown = JSON.parse("[".repeat(100_000) + "]".repeat(100_000))
      yield* setTable("Objects", [{ id: "rec1", fields: { deep } }])
      expect((yield* Effect.flip(fetch)).message).toContain('Table "Objects": cannot be written as JSON')
    }).pipe(run)
  )
})

it.scoped("makes a new version if a file was missing, and none if only links differ", () =>
  Effect.gen(function* () {
    const { setTable, source } = yield* setUp({ tables: ["Objects", "Rooms"], keyValueTables: [] })
    const fileSystem = yield* FileSystem.FileSystem
    const store = yield* VersionStoreDisk.make({ directory: yield* fileSystem.makeTempDirectoryScoped() })
    const fetchVersion = Effect.gen(function* () {
      const staged = yield* store.stage
      const { attachments, fingerprint } = yield* source.fetch({
        directory: yield* staged.sourceDirectory(options.id),
        previous: staged.previous(options.id),
        progress: () => Effect.void
      })
      const { changed } = yield* staged.promote([{ sourceId: options.id, fingerprint }])
      return { changed, reused: attachments?.reused }
    }).pipe(Effect.scoped)
    const active = Effect.map(Effect.scoped(store.stage), (staged) =>
      Option.match(staged.previous(options.id), { onNone: () => "", onSome: ({ directory }) => directory })
    )

    yield* setTable("Objects", [{ id: "rec1", fields: { Photo: [photo("x")] } }])
    yield* setTable("Rooms", [])
    expect(yield* fetchVersion).toEqual({ changed: true, reused: 0 })
    yield* setTable("Objects", [{ id: "rec1", fields: { Photo: [photo("another, longer one")] } }])
    expect(yield* fetchVersion).toEqual({ changed: false, reused: 1 })
    yield* fileSystem.remove(`${yield* active}/Rooms.json`)
    expect(yield* fetchVersion).toEqual({ changed: true, reused: 1 })
    yield* fileSystem.remove(`${yield* active}/attachments/att1/a.png`)
    expect(yield* fetchVersion).toEqual({ changed: true, reused: 0 })
    expect(yield* fileSystem.readFileString(`${yield* active}/attachments/att1/a.png`)).toBe("x")
    expect(yield* fetchVersion).toEqual({ changed: false, reused: 1 })
  }).pipe(run)
)

it.scoped("returns the digests of all its files, so that the version store does not read them again", () => {
  const counts: FileCounts = { reads: 0, stats: 0, parts: 0 }
  return Effect.gen(function* () {
    const { setTable, source } = yield* setUp()
    const fileSystem = yield* FileSystem.FileSystem
    const directory = yield* fileSystem.makeTempDirectoryScoped()
    const store = yield* VersionStoreDisk.make({ directory })
    const fetchVersion = Effect.gen(function* () {
      const staged = yield* store.stage
      const { digests = {}, ...fetched } = yield* source.fetch({
        directory: yield* staged.sourceDirectory(options.id),
        previous: staged.previous(options.id),
        progress: () => Effect.void
      })
      const { manifest } = yield* staged.promote([{ sourceId: options.id, ...fetched, digests }])
      const folder = `${directory}/${manifest.versionPath}`
      const list = yield* Effect.flatMap(
        fileSystem.readFileString(`${folder}/files.json`),
        Schema.decode(FileListJson)
      )
      const files = yield* Effect.forEach(filesOf(list), ([path, { sha256: digest }]) =>
        Effect.map(fileSystem.readFile(`${folder}/${path}`), (content) => ({
          path,
          isRight: digest === sha256(content)
        }))
      )
      return {
        records: list.sources[0]?.records,
        files,
        inode: (yield* fileSystem.stat(`${folder}/${film}`)).ino
      }
    }).pipe(Effect.scoped)

    const film = "exhibits/attachments/att1/a.png"
    const right = ["exhibits/Objects.json", "exhibits/Settings.json", film].map((path) => ({
      path,
      isRight: true
    }))
    yield* setTable("Settings", [{ id: "rec1", fields: { key: "k", value: "1" } }])
    yield* setTable("Objects", [{ id: "rec1", fields: { Photo: [photo("x")] } }])
    const first = yield* fetchVersion
    expect(first).toMatchObject({ records: 1, files: right })
    yield* setTable("Objects", [
      { id: "rec1", fields: { Photo: [photo("y")] } },
      { id: "rec2", fields: {} }
    ])
    const second = yield* fetchVersion
    expect(second).toEqual({ ...first, records: 2 })
    expect(counts.parts).toBe(0)
  }).pipe(Effect.provide(withCountedFiles(counts, () => true)), run)
})

describe("the fingerprint", () => {
  const fingerprintOf = (objects: ReadonlyArray<TableRecord>, overrides: Partial<typeof options> = {}) =>
    Effect.gen(function* () {
      const { fetch, setTable } = yield* setUp(overrides)
      yield* setTable("Objects", objects)
      yield* setTable("Rooms", records(2))
      yield* setTable("Settings", [{ id: "rec1", fields: { key: "k", value: objects[0]?.fields.Photo } }])
      return (yield* fetch).fingerprint
    }).pipe(Effect.scoped)

  const withPhoto = (photo: unknown) => [{ id: "rec1", fields: { Photo: [photo], Lookup: [null, [photo]] } }]

  it.effect("does not change with the signatures of attachments", () =>
    Effect.gen(function* () {
      const first = yield* fingerprintOf(withPhoto(photo("x")))
      expect(yield* fingerprintOf(withPhoto(photo("y")))).toBe(first)
      expect(yield* fingerprintOf(withPhoto(photo("x", "att2")))).not.toBe(first)
      expect(yield* fingerprintOf(withPhoto({ ...photo("x"), filename: "b.png" }))).not.toBe(first)
      expect(yield* fingerprintOf(withPhoto({ ...photo("x"), size: 1 }))).not.toBe(first)
    }).pipe(run)
  )

  it.effect("does not change with the order of tables or of fields", () =>
    Effect.gen(function* () {
      const tables = ["Objects", "Rooms"]
      const first = yield* fingerprintOf([{ id: "rec1", fields: { a: 1, b: { c: 1, d: 2 } } }], { tables })
      const other = [{ id: "rec1", fields: { b: { d: 2, c: 1 }, a: 1 } }]
      expect(yield* fingerprintOf(other, { tables: ["Rooms", "Objects"] })).toBe(first)
    }).pipe(run)
  )

  it.effect("changes with the content, its order and the names of the files", () =>
    Effect.gen(function* () {
      const all = yield* Effect.all([
        fingerprintOf(records(2)),
        fingerprintOf(records(3)),
        fingerprintOf([...records(2)].reverse()),
        fingerprintOf([]),
        fingerprintOf(records(2), { tables: ["Objects", "Rooms"] }),
        fingerprintOf(records(2), { tables: ["Rooms"] }),
        fingerprintOf(withPhoto(photo("x"))),
        fingerprintOf(withPhoto(photo("x")), { appendLocalAttachmentPaths: false })
      ])
      expect(new Set(all).size).toBe(all.length)
    }).pipe(run)
  )
})

describe("tableSource", () => {
  const config = { id: "exhibits", baseId: "app1", apiKey: "pat.secret", tables: ["Objects"] }

  it.scoped("fetches from an HTTP server", () =>
    Effect.gen(function* () {
      const fileSystem = yield* FileSystem.FileSystem
      const directory = yield* fileSystem.makeTempDirectoryScoped()
      const server = yield* ScriptedServer.make(
        ScriptedServer.json(200, { records: [{ id: "rec1", createdTime: "now", fields: { b: 1, a: 2 } }] })
      )
      const { id, issues, make } = tableSource({ ...config, endpointUrl: `${server.url}/` })
      expect({ id, issues }).toEqual({ id: "exhibits", issues: [] })
      const source = yield* make
      expect(source.id).toBe("exhibits")
      const fetched = yield* source.fetch({
        directory,
        previous: Option.none(),
        progress: () => Effect.void
      })
      expect(fetched.records).toBe(1)
      expect(JSON.parse(yield* fileSystem.readFileString(`${directory}/Objects.json`))).toEqual([
        { id: "rec1", a: 2, b: 1 }
      ])
    }).pipe(
      Effect.provide(Layer.mergeAll(NodeContext.layer, NodeHttpClient.layerUndici, RequestPacingMemory.layer))
    )
  )

  it("reports mistakes in its options before it is made", () => {
    const { id, issues } = tableSource({ ...config, tables: ["A", "a"], maxTimeout: 0 })
    expect(id).toBe("exhibits")
    expect(issues.map(({ path }) => path)).toEqual(["maxTimeout", "tables[1]"])
  })

  it.effect("cannot be made with invalid options", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Effect.scoped(tableSource({ ...config, apiKey: "pat secret" }).make))
      expect(error).toBeInstanceOf(InvalidOptions)
      expect(error.message).not.toContain("pat secret")
    }).pipe(
      Effect.provide(Layer.mergeAll(NodeContext.layer, NodeHttpClient.layerUndici, RequestPacingMemory.layer))
    )
  )
})
