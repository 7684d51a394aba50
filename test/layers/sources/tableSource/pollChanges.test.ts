/**
 * Tables that can be asked what has changed.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import * as TableSource from "../../../../src/layers/sources/tableSource/TableSource.ts"
import * as TableSourceClientMemory from "../../../../src/layers/sources/tableSource/TableSourceClientMemory.ts"
import type { Changed } from "../../../../src/services/ContentSource.ts"
import { TableError, TableSourceClient } from "../../../../src/services/TableSourceClient.ts"
import { VersionStore } from "../../../../src/services/VersionStore.ts"
import { temporaryStore } from "../../../support/content.ts"
import { withLog } from "../../../support/logged.ts"

const environment = temporaryStore.pipe(
  Layer.provideMerge(NodeContext.layer),
  Layer.merge(NodeHttpClient.layer)
)

const records = (...names: ReadonlyArray<string>) =>
  names.map((Name, index) => ({ id: `rec${index}`, fields: { Name } }))

const failure = (reason: TableError["reason"]) =>
  new TableError({ table: "", reason, detail: `it says ${reason}` })

/** A source of three tables, and what a controller does with it at a tick. */
const setUp = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const store = yield* VersionStore
  const memory = yield* TableSourceClientMemory.make({ changes: true })
  yield* memory.setTable("Objects", records("vase"))
  yield* memory.setTable("Rooms", records("hall"))
  yield* memory.setTable("Settings", [{ id: "rec1", fields: { key: "title", value: "Show" } }])
  const source = yield* TableSource.make({
    id: "exhibits",
    tables: ["Objects", "Rooms"],
    keyValueTables: ["Settings"],
    wholeEvery: "1 hour"
  }).pipe(
    Effect.provideService(TableSourceClient, {
      ...memory.client,
      calls: Effect.map(memory.requests, ({ length }) => ({ today: length, month: length, total: length }))
    })
  )
  const { poll = () => Effect.dieMessage("no look") } = source
  let mark = Option.none<string>()

  /** The result of a poll; if something has changed, it is fetched and promoted. */
  const tick = Effect.gen(function* () {
    const news = yield* poll(mark)
    mark = Option.some(news.cursor)
    if (news.changed.length > 0) yield* fetch(news.changed)
    return news.changed
  })

  const fetch = (changed: Changed) =>
    Effect.gen(function* () {
      const staged = yield* store.stage
      const { fingerprint, ...fetched } = yield* source.fetch({
        directory: yield* staged.sourceDirectory("exhibits"),
        previous: staged.previous("exhibits"),
        progress: () => Effect.void,
        ...(typeof changed === "string" ? {} : { changedParts: changed })
      })
      yield* staged.promote([{ sourceId: "exhibits", fingerprint, ...fetched }])
    }).pipe(Effect.scoped)

  const saved = (name: string) =>
    Effect.flatMap(store.stage, ({ previous }) =>
      fs.readFileString(`${Option.getOrThrow(previous("exhibits")).directory}/${name}.json`)
    ).pipe(Effect.scoped)

  return { ...memory, fetch, data: source.data ?? Effect.succeed({}), saved, tick }
})

describe("a table source with a change feed", () => {
  it.scoped("reads only the tables that have changed", () =>
    Effect.gen(function* () {
      const { requests, saved, setTable, tick } = yield* setUp
      expect(yield* tick).toBe("everything")
      expect(yield* requests).toHaveLength(3)
      expect(yield* tick).toEqual([])
      yield* setTable("Rooms", records("attic"))
      yield* setTable("Elsewhere", records("x"))
      expect(yield* tick).toEqual(["Rooms"])
      expect((yield* requests).slice(3).map(({ table }) => table)).toEqual(["Rooms"])
      expect(yield* saved("Rooms")).toContain("attic")
      expect(yield* saved("Objects")).toContain("vase")
      expect(JSON.parse(yield* saved("Settings"))).toEqual({ title: "Show" })
    }).pipe(Effect.provide(environment))
  )

  it.scoped("reads everything where the previous version is not the one that it read last", () =>
    Effect.gen(function* () {
      const { requests, setTable, tick } = yield* setUp
      const store = yield* VersionStore
      yield* tick
      const staged = yield* store.stage
      yield* staged.sourceDirectory("exhibits")
      yield* staged.promote([{ sourceId: "exhibits", fingerprint: "somebody else's" }])
      yield* setTable("Rooms", records("attic"))
      yield* tick
      expect((yield* requests).slice(3)).toHaveLength(3)
    }).pipe(Effect.provide(environment))
  )

  it.scoped("reads everything once in an hour, though nothing has changed", () =>
    Effect.gen(function* () {
      const { tick } = yield* setUp
      yield* tick
      yield* TestClock.adjust("59 minutes")
      expect(yield* tick).toEqual([])
      yield* TestClock.adjust("1 minute")
      expect(yield* tick).toBe("everything")
      expect(yield* tick).toEqual([])
    }).pipe(Effect.provide(environment))
  )

  it.scoped("reads everything at intervals while the change feed fails, and warns once", () => {
    const log: Array<string> = []
    return Effect.gen(function* () {
      const { data, failNextChanges, setTable, tick } = yield* setUp
      yield* tick
      yield* failNextChanges(failure("NotFound"))
      yield* failNextChanges(failure("NotFound"))
      expect(yield* tick).toEqual([])
      expect(yield* data).toMatchObject({ changes: { problem: { reason: "it says NotFound" } } })
      yield* setTable("Rooms", records("attic"))
      yield* TestClock.adjust("9 minutes")
      expect(yield* tick).toEqual([])
      yield* TestClock.adjust("1 minute")
      expect(yield* tick).toBe("everything")
      yield* setTable("Rooms", records("cellar"))
      yield* TestClock.adjust("10 minutes")
      // The change feed works again, and has the changes since the last poll.
      yield* tick
      expect(yield* data).toMatchObject({ changes: {} })
      expect(JSON.stringify(yield* data)).not.toContain("problem")
      expect(log.filter((line) => line.startsWith("WARN"))).toEqual([
        "WARN It cannot be asked what has changed: it says NotFound. Until it can, all tables are read every 10m"
      ])
    }).pipe(Effect.provide(environment), withLog(log))
  })

  it.scoped("retries the change feed after transient errors, with growing pauses", () =>
    Effect.gen(function* () {
      const { data, failNextChanges, tick } = yield* setUp
      yield* tick
      yield* failNextChanges(failure("Unreachable"))
      yield* failNextChanges(failure("ServerError"))
      yield* tick
      yield* TestClock.adjust("15 seconds")
      yield* tick
      yield* TestClock.adjust("15 seconds")
      yield* tick
      expect(JSON.stringify(yield* data)).toContain("problem")
      yield* TestClock.adjust("15 seconds")
      yield* tick
      expect(JSON.stringify(yield* data)).not.toContain("problem")
    }).pipe(Effect.provide(environment), withLog([]))
  )
})
