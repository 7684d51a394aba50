import { getEventListeners } from "node:events"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import { InvalidOptions } from "../src/internal/Options.ts"
import * as httpClient from "../src/layers/httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../src/layers/memory/RequestPacingMemory.ts"
import { tableSource as effectTableSource } from "../src/layers/sources/tables/airtableSource.ts"
import {
  type PlainFetchContext,
  type TableDocument,
  type TableSourceConfig,
  tableSource
} from "../src/plain.ts"
import { SourceError } from "../src/services/SourceError.ts"
import { withLog } from "./support/logged.ts"
import { makePlainController } from "./support/plainController.ts"
import * as ScriptedServer from "./support/ScriptedServer.ts"
import { eventLoopTurn } from "./support/waiting.ts"

const apiKey = "secret-key-of-the-museum"

const record = (id: string, fields: object) => ({ id, createdTime: "2026-01-01T00:00:00.000Z", fields })

const photo = { url: "https://files.example/a?signature=1", id: "att1", filename: "a.png", size: 7 }

const objects = [
  record("rec2", { title: "Barometer", id: "B", "10": 1, nested: { z: 1, a: [{ y: 1, x: null }] } }),
  record("rec1", JSON.parse('{"title":"Größe\\nand \\u2028","__proto__":{"b":1,"a":2}}'))
]
const settings = [
  record("rec3", { key: "volume", value: "7" }),
  record("rec4", { key: "names[1]", value: "b" }),
  record("rec5", { value: "without a key" }),
  record("rec6", { key: "code", value: "007" })
]

/** Tables by name, a page each; others are not there. */
const tablesAnswer =
  (tables: Record<string, ReadonlyArray<object>>): ScriptedServer.Answer =>
  (response, request) => {
    const name = decodeURIComponent(new URL(request.url, "http://localhost").pathname.split("/")[3] ?? "")
    const records = tables[name]
    const answer =
      records === undefined
        ? ScriptedServer.json(404, { error: { type: "TABLE_NOT_FOUND", message: `no table ${name}` } })
        : ScriptedServer.json(200, { records })
    answer(response, request)
  }

const serve = (tables: Record<string, ReadonlyArray<object>>) => ScriptedServer.make(tablesAnswer(tables))

const optionsFor = (url: string, options: Partial<TableSourceConfig> = {}): TableSourceConfig => ({
  id: "exhibits",
  baseId: "appMuseum",
  apiKey,
  endpointUrl: url,
  tables: ["Objects"],
  keyValueTables: ["Settings"],
  ...options
})

const setUp = (tables: Record<string, ReadonlyArray<object>>, options?: Partial<TableSourceConfig>) =>
  Effect.map(serve(tables), (server) => {
    const controller = makePlainController()
    const context = controller.contextOf("content")
    const source = tableSource(optionsFor(server.url, options))
    return { server, controller, context, source, fetch: () => source.fetch(context) }
  })

/** The data of a document, or why there is none. */
const settle = ({ data }: TableDocument) =>
  Effect.promise(() =>
    data.then(
      (value) => ({ value }),
      (error: unknown) => ({ error })
    )
  )

const dataOf = (documents: ReadonlyArray<TableDocument>) =>
  Effect.promise(() => Promise.all(documents.map(({ data }) => data)))

describe("tableSource", () => {
  it.scopedLive("returns a document for each table, with the same data that the content plugin saves", () =>
    Effect.gen(function* () {
      const { fetch, server, source } = yield* setUp(
        { Objects: objects, "a/b": [], Settings: settings },
        { tables: ["Objects", "a/b"] }
      )
      const documents = fetch()
      expect(source.id).toBe("exhibits")
      expect(documents.map(({ id }) => id)).toEqual(["Objects", "a%2Fb", "Settings"])
      const data = yield* dataOf(documents)

      const fileSystem = yield* FileSystem.FileSystem
      const directory = yield* fileSystem.makeTempDirectoryScoped()
      const options = optionsFor(server.url, { tables: ["Objects", "a/b"] })
      const saving = yield* effectTableSource(options).make
      yield* saving.fetch({ directory, previous: Option.none(), progress: () => Effect.void })
      for (const [index, { id }] of documents.entries()) {
        const file = yield* fileSystem.readFileString(`${directory}/${id}.json`)
        expect(data[index]).toEqual(JSON.parse(file))
      }
      expect(data[2]).toEqual({ code: "007", names: [null, "b"], volume: 7 })
    }).pipe(
      Effect.provide(Layer.mergeAll(NodeContext.layer, httpClient.layer, RequestPacingMemory.layer)),
      withLog([])
    )
  )

  it.scopedLive("returns attachments unchanged, in key/value tables too", () =>
    Effect.gen(function* () {
      const { fetch } = yield* setUp({
        Objects: [record("rec1", { photos: [photo] })],
        Settings: [record("rec2", { key: "logo", value: [photo] })]
      })
      const [rows, settings] = yield* dataOf(fetch())
      expect(rows).toEqual([{ id: "rec1", photos: [photo] }])
      expect(settings).toEqual({ logo: [photo] })
    })
  )

  it.scopedLive("replaces ids by linked records", () =>
    Effect.gen(function* () {
      const { fetch } = yield* setUp(
        { Objects: [record("rec1", { maker: ["recA"] })], Makers: [record("recA", { name: "Ada" })] },
        { keyValueTables: [], links: { maker: "Makers" } }
      )
      expect(yield* dataOf(fetch())).toEqual([[{ id: "rec1", maker: [{ id: "recA", name: "Ada" }] }]])
    })
  )

  it.scopedLive("reads again at every fetch", () =>
    Effect.gen(function* () {
      const { fetch, server } = yield* setUp({ Objects: objects }, { keyValueTables: [] })
      yield* dataOf(fetch())
      server.next(tablesAnswer({ Objects: [record("rec9", { title: "new" })] }))
      expect(yield* dataOf(fetch())).toEqual([[{ id: "rec9", title: "new" }]])
    })
  )

  it.scopedLive("keeps the rate limit of a base for all its sources", () =>
    Effect.gen(function* () {
      const arrivals: Array<number> = []
      const answer = tablesAnswer({ Objects: objects, Settings: settings })
      const server = yield* ScriptedServer.make((response, request) => {
        arrivals.push(performance.now())
        answer(response, request)
      })
      const { contextOf } = makePlainController()
      const sources = [tableSource(optionsFor(server.url)), tableSource(optionsFor(`${server.url}/`))]
      yield* dataOf(sources.flatMap(({ fetch }) => fetch(contextOf("content"))))
      expect(arrivals).toHaveLength(4)
      // The last of four starts three intervals of 215 ms after the first, which may arrive late on a busy machine.
      expect((arrivals[3] ?? 0) - (arrivals[0] ?? 0)).toBeGreaterThan(2 * 215)
    })
  )

  it.scopedLive("logs each warning once, without the key", () =>
    Effect.gen(function* () {
      const { controller, fetch } = yield* setUp({ Objects: objects, Settings: settings })
      yield* dataOf(fetch())
      yield* dataOf(fetch())
      expect(controller.lines.filter((line) => line.startsWith("WARN"))).toEqual([
        expect.stringContaining('WARN Table "Objects": the column "id" is saved as "id_"'),
        expect.stringContaining('WARN Table "Settings": 1 row has no text in the column "key"')
      ])
      expect(controller.lines.join()).not.toContain(apiKey)
    })
  )

  it.scopedLive("has no documents without tables, sends no request, and logs that once", () =>
    Effect.gen(function* () {
      const { controller, fetch, server } = yield* setUp({}, { tables: [], keyValueTables: [] })
      expect(fetch()).toEqual([])
      expect(fetch()).toEqual([])
      yield* eventLoopTurn
      expect(controller.lines.filter((line) => line.startsWith("WARN"))).toEqual([
        'WARN The table source "exhibits" has neither "tables" nor "keyValueTables": it is empty.'
      ])
      expect(yield* Queue.size(server.received)).toBe(0)
    })
  )

  it.scopedLive("continues where the logger throws", () =>
    Effect.gen(function* () {
      const { context, source } = yield* setUp({ Objects: objects, Settings: settings })
      const warn = () => {
        throw new Error("no")
      }
      const data = yield* dataOf(source.fetch({ ...context, logger: { ...context.logger, warn } }))
      expect(data).toHaveLength(2)
    })
  )
})

describe("a table that cannot be read", () => {
  it.scopedLive("fails its document and all later ones, without another request", () =>
    Effect.gen(function* () {
      const { controller, fetch, server } = yield* setUp(
        { Objects: objects, Settings: settings },
        { tables: ["Objects", "Missing", "Objects 2"] }
      )
      const [first, ...others] = yield* Effect.forEach(fetch(), settle)
      expect(first).toMatchObject({ value: [{ id: "rec2" }, { id: "rec1" }] })
      expect(others).toHaveLength(3)
      for (const other of others) {
        expect(other).toEqual(others[0])
        expect(other).toHaveProperty("error", expect.any(SourceError))
        expect(other).toHaveProperty(
          "error.message",
          expect.stringMatching(/^Source "exhibits": Table "Missing": .*no table Missing/)
        )
        expect(other).toHaveProperty("error.cause", expect.any(Error))
        expect(JSON.stringify(other)).not.toContain(apiKey)
      }
      expect(yield* Queue.size(server.received)).toBe(2)
      expect(controller.lines.join()).not.toContain(apiKey)
    })
  )

  it.scopedLive("is reported to the caller, and not in the log", () =>
    Effect.gen(function* () {
      const { controller, fetch, server } = yield* setUp({})
      server.next(ScriptedServer.json(200, { records: [record("rec1", {})], offset: "next" }))
      yield* Effect.forEach(fetch(), settle)
      expect(controller.lines).toEqual([])
    })
  )

  it.scopedLive.each<[string, Record<string, ReadonlyArray<object>>, string]>([
    ["two columns for one", { Objects: [record("rec1", { id: 1, id_: 2 })] }, 'columns "id" and "id_"'],
    [
      "keys that clash",
      { Objects: [], Settings: [record("r1", { key: "a" }), record("r2", { key: "a[0]" })] },
      'the key "a" is a value and an array at once'
    ]
  ])("fails with the words of the content plugin: %s", ([, tables, words]) =>
    Effect.gen(function* () {
      const { fetch } = yield* setUp(tables)
      const outcomes = yield* Effect.forEach(fetch(), settle)
      expect(outcomes.at(-1)).toHaveProperty("error.message", expect.stringContaining(words))
    })
  )
})

describe("a table that is not as expected", () => {
  it.scopedLive("comes without the records that may be left out", () =>
    Effect.gen(function* () {
      const { fetch } = yield* setUp(
        { Objects: objects, Settings: settings },
        { expect: { Objects: { fields: { nowhere: "text" }, leaveOut: 1 } } }
      )
      const outcomes = yield* Effect.forEach(fetch(), settle)
      expect(outcomes[0]).toEqual({ value: [] })
      const few = yield* setUp(
        { Objects: objects, Settings: settings },
        { expect: { Objects: { fields: { nowhere: "text" }, leaveOut: 0.1 } } }
      )
      expect((yield* Effect.forEach(few.fetch(), settle)).at(-1)).toHaveProperty(
        "error.message",
        expect.stringContaining("at most 0 of")
      )
    })
  )

  it.scopedLive.each<[string, Parameters<typeof setUp>[1], string]>([
    [
      "a record",
      { expect: { Objects: { fields: { nowhere: "text" } } } },
      'Table "Objects", record rec2 and 1 more, field "nowhere": expected text, found nothing.'
    ],
    ["a key", { expect: { Settings: { minRecords: 99 } } }, 'Table "Settings": expected at least 99 keys']
  ])("fails its document: %s", ([, options, words]) =>
    Effect.gen(function* () {
      const { fetch } = yield* setUp({ Objects: objects, Settings: settings }, options)
      const outcomes = yield* Effect.forEach(fetch(), settle)
      expect(outcomes.at(-1)).toHaveProperty("error.message", expect.stringContaining(words))
    })
  )
})

describe("an abort", () => {
  it.scopedLive("ends the request, and fails the remaining documents with its reason", () =>
    Effect.gen(function* () {
      const { context, server, source } = yield* setUp({ Objects: objects })
      server.next(tablesAnswer({ Objects: objects }), ScriptedServer.silence)
      const aborting = new AbortController()
      const documents = source.fetch({ ...context, abortSignal: aborting.signal })
      yield* Queue.take(server.received)
      const { closed } = yield* Queue.take(server.received)
      aborting.abort("the museum closes")
      yield* Deferred.await(closed)
      const [first, second] = yield* Effect.forEach(documents, settle)
      expect(first).toHaveProperty("value.length", 2)
      expect(second).toEqual({ error: "the museum closes" })
      expect(getEventListeners(aborting.signal, "abort")).toEqual([])
    })
  )

  it.scopedLive("before the fetch prevents every request", () =>
    Effect.gen(function* () {
      const { context, server, source } = yield* setUp({ Objects: objects })
      const outcomes = yield* Effect.forEach(
        source.fetch({ ...context, abortSignal: AbortSignal.abort() }),
        settle
      )
      expect(outcomes).toMatchObject([{ error: { name: "AbortError" } }, { error: { name: "AbortError" } }])
      expect(yield* Queue.size(server.received)).toBe(0)
    })
  )

  it.scopedLive("after the fetch has no effect", () =>
    Effect.gen(function* () {
      const { context, source } = yield* setUp({ Objects: objects, Settings: settings })
      const aborting = new AbortController()
      const documents = source.fetch({ ...context, abortSignal: aborting.signal })
      const data = yield* dataOf(documents)
      aborting.abort()
      expect(yield* dataOf(documents)).toEqual(data)
      expect(getEventListeners(aborting.signal, "abort")).toEqual([])
    })
  )
})

describe("options with mistakes", () => {
  it("are all thrown by fetch, without the key", () => {
    const mistakes = { id: "../x", baseId: "", apiKey: "with space", tables: ["A", "A"], table: ["B"] }
    const source = tableSource(mistakes as unknown as TableSourceConfig)
    expect(source.id).toBe("")
    const { contextOf } = makePlainController()
    const fetch = () => source.fetch(contextOf("content"))
    expect(fetch).toThrow(InvalidOptions)
    for (const path of ["id", "baseId", "apiKey", "tables[1]", "table"]) {
      expect(fetch).toThrow(`  ${path}: `)
    }
    expect(fetch).not.toThrow("with space")
  })

  it("include a change feed, which would not be used", () => {
    const mistakes = { ...optionsFor("http://127.0.0.1"), changes: "webhook", wholeEvery: "1 hour" }
    const { contextOf } = makePlainController()
    const fetch = () => tableSource(mistakes).fetch(contextOf("content"))
    expect(fetch).toThrow("  changes: there is no such key")
    expect(fetch).toThrow("  wholeEvery: there is no such key")
  })
})

describe("a context with mistakes", () => {
  it.scoped("is thrown by fetch with all mistakes, before any request", () =>
    Effect.gen(function* () {
      const { server, source } = yield* setUp({ Objects: objects })
      const fetchIn = (context: unknown) => () => source.fetch(context as PlainFetchContext)
      expect(fetchIn(undefined)).toThrow("  context: expected an object, got undefined")
      expect(fetchIn({})).toThrow(
        "There are 2 invalid values in the context that fetch was given:\n" +
          "  context.logger: expected an object, got undefined\n" +
          "  context.abortSignal: expected an AbortSignal, got undefined"
      )
      yield* eventLoopTurn
      expect(yield* Queue.size(server.received)).toBe(0)
    })
  )
})
