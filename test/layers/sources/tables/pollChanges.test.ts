/**
 * Tables that can be asked what has changed.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { describe, expect, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as TestClock from "effect/TestClock"
import * as KeptFile from "../../../../src/layers/documents/KeptFile.ts"
import { makePolling } from "../../../../src/layers/sources/tables/pollChanges.ts"
import * as TableSource from "../../../../src/layers/sources/tables/TableSource.ts"
import { SourceFolder } from "../../../../src/services/ContentSource.ts"
import { type ChangeFeed, TableError, TableSourceClient } from "../../../../src/services/TableSourceClient.ts"
import { VersionStore } from "../../../../src/services/VersionStore.ts"
import * as TableSourceClientMemory from "../../../../src/testing/TableSourceClientMemory.ts"
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
    if (news.changed !== "nothing") yield* fetch
    return news.changed
  })

  const fetch = Effect.gen(function* () {
    const staged = yield* store.stage
    const { fingerprint, ...fetched } = yield* source.fetch({
      directory: yield* staged.sourceDirectory("exhibits"),
      previous: staged.previous("exhibits"),
      progress: () => Effect.void
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
  it.scoped("is read only if something in the base has changed", () =>
    Effect.gen(function* () {
      const { requests, saved, setTable, tick } = yield* setUp
      expect(yield* tick).toBe("everything")
      expect(yield* requests).toHaveLength(3)
      expect(yield* tick).toBe("nothing")
      expect(yield* requests).toHaveLength(3)
      yield* setTable("Rooms", records("attic"))
      expect(yield* tick).toBe("everything")
      expect(yield* saved("Rooms")).toContain("attic")
      expect(yield* saved("Objects")).toContain("vase")
      expect(JSON.parse(yield* saved("Settings"))).toEqual({ title: "Show" })
    }).pipe(Effect.provide(environment))
  )

  it.scoped("reads everything once in an hour, even if nothing has changed", () =>
    Effect.gen(function* () {
      const { tick } = yield* setUp
      yield* tick
      yield* TestClock.adjust("59 minutes")
      expect(yield* tick).toBe("nothing")
      yield* TestClock.adjust("1 minute")
      expect(yield* tick).toBe("everything")
      expect(yield* tick).toBe("nothing")
    }).pipe(Effect.provide(environment))
  )

  it.scoped("reads everything at each tick while the list of changes cannot be read, and warns once", () => {
    const log: Array<string> = []
    return Effect.gen(function* () {
      const { data, failNextChanges, tick } = yield* setUp
      yield* tick
      yield* failNextChanges(failure("NotFound"))
      yield* failNextChanges(failure("NotFound"))
      expect(yield* tick).toBe("everything")
      expect(yield* data).toMatchObject({ changes: { problem: "it says NotFound" } })
      expect(yield* tick).toBe("everything")
      // The list is readable again, and begins anew.
      expect(yield* tick).toBe("everything")
      expect(yield* data).toMatchObject({ changes: {} })
      expect(JSON.stringify(yield* data)).not.toContain("problem")
      expect(yield* tick).toBe("nothing")
      expect(log.filter((line) => line.startsWith("WARN"))).toEqual([
        "WARN Changes cannot be listed, so all tables are read at each tick: it says NotFound"
      ])
    }).pipe(Effect.provide(environment), withLog(log))
  })

  it.scoped("goes on with its list of changes after an error that passes", () =>
    Effect.gen(function* () {
      const { failNextChanges, tick } = yield* setUp
      yield* tick
      yield* failNextChanges(failure("Unreachable"))
      expect(yield* tick).toBe("everything")
      expect(yield* tick).toBe("nothing")
    }).pipe(Effect.provide(environment), withLog([]))
  )

  it.scoped("keeps the list of the run before until it is ended", () =>
    Effect.gen(function* () {
      const folder = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
      const begun = yield* Ref.make(0)
      const run = (end: ChangeFeed["end"]) =>
        makePolling(Duration.hours(1), {
          since: () =>
            Effect.map(
              Ref.updateAndGet(begun, (count) => count + 1),
              (count) => ({ position: `list ${count}`, changed: "everything" })
            ),
          end
        }).pipe(
          Effect.zip(KeptFile.make("exhibits")),
          Effect.flatMap(([{ poll }, kept]) => poll(Option.none(), kept)),
          Effect.provideService(SourceFolder, Option.some(folder))
        )
      yield* run(() => Effect.void)
      expect((yield* run(() => failure("Unreachable"))).changed).toBe("everything")
      expect(yield* Ref.get(begun)).toBe(1)
      const ended: Array<string> = []
      yield* run((position) =>
        Effect.zipRight(
          Effect.sync(() => ended.push(position)),
          failure("NotFound")
        )
      )
      expect(ended).toEqual(["list 1"])
      expect(yield* Ref.get(begun)).toBe(2)
    }).pipe(Effect.provide(environment), withLog([]))
  )

  it.scoped("ends the list of changes of the run before", () =>
    Effect.gen(function* () {
      const ended: Array<string> = []
      const folder = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
      const run = (position: string) =>
        makePolling(Duration.hours(1), {
          since: () => Effect.succeed({ position, changed: "everything" }),
          end: (position) => Effect.sync(() => ended.push(position))
        }).pipe(
          Effect.zip(KeptFile.make("exhibits")),
          Effect.flatMap(([{ poll }, kept]) => poll(Option.none(), kept)),
          Effect.provideService(SourceFolder, Option.some(`${folder}/.sources`))
        )
      yield* run("first 1")
      expect(ended).toEqual([])
      yield* run("second 1")
      expect(ended).toEqual(["first 1"])
    }).pipe(Effect.provide(environment))
  )
})
