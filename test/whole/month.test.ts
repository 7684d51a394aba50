/**
 * A month of a controller in seconds. `MONTH_FETCH_MINUTES` and `MONTH_PING_MINUTES` say how often it fetches and
 * pings: with 10 and 1, as in earnest, it takes minutes.
 */
import { readdirSync, statSync } from "node:fs"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Record from "effect/Record"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import * as Content from "../../src/layers/fetching/Content.ts"
import * as httpClient from "../../src/layers/httpClient/HttpClientNode.ts"
import * as Replica from "../../src/layers/replica/Replica.ts"
import { attachments } from "../../src/layers/sources/tables/AirtableClient.ts"
import * as TableSource from "../../src/layers/sources/tables/TableSource.ts"
import * as VersionStoreDisk from "../../src/layers/versions/VersionStoreDisk.ts"
import { CommandBus } from "../../src/services/CommandBus.ts"
import { EventBus } from "../../src/services/EventBus.ts"
import { TableSourceClient } from "../../src/services/TableSourceClient.ts"
import { withAdvancingClock } from "../../src/testing/advancingClock.ts"
import * as TableSourceClientMemory from "../../src/testing/TableSourceClientMemory.ts"
import * as eventReader from "../support/eventReader.ts"
import { makeHub } from "../support/hub.ts"
import { inMemory } from "../support/inMemory.ts"
import { withLog } from "../support/logged.ts"
import { memory } from "../support/memory.ts"
import * as transport from "../support/transport.ts"
import { eventLoopTurn, eventually } from "../support/waiting.ts"

const minutes = (name: string, otherwise: number) => Duration.minutes(Number(process.env[name] ?? otherwise))
const fetchEvery = minutes("MONTH_FETCH_MINUTES", 480)
const keepAliveMs = Duration.toMillis(minutes("MONTH_PING_MINUTES", 240))

const days = 30
/** By then everything that is made once is there. */
const firstDays = 5

const options = {
  id: "museum",
  defaultView: null,
  tables: ["Objects"],
  keyValueTables: [],
  maxTimeout: 60_000
}

const readEvents = Effect.flatMap(transport.port, (port) => eventReader.open(port, { onMessage: () => {} }))

/** What may pile up. */
const whatThereIs = (folder: string) =>
  Effect.gen(function* () {
    yield* Effect.repeatN(eventLoopTurn, 10)
    const fs = yield* FileSystem.FileSystem
    return {
      bytes: yield* memory,
      fibers: Fiber.unsafeRoots().length,
      handles: process.getActiveResourcesInfo().length,
      openFiles: readdirSync("/proc/self/fd").length,
      files: (yield* fs.readDirectory(folder, { recursive: true })).length,
      sleeps: Chunk.size(yield* TestClock.sleeps())
    }
  })

type Counts = Effect.Effect.Success<ReturnType<typeof whatThereIs>>

/**
 * Nothing grew by one a day. "Nothing differs" would be too strict: the test clock keeps waits that were given up until
 * their time has come.
 */
const expectNothingGrew = (early: Counts, late: Counts) => {
  const { bytes, ...grew } = Record.map(late, (count, name) => count - early[name])
  expect(Record.filter(grew, (count) => count >= days - firstDays)).toEqual({})
  // The compiler goes on for days: what grew by a megabyte or two was its code.
  expect(bytes).toBeLessThan(4 * 1024 * 1024)
}

it.effect(
  "a month leaves only the versions that the rules keep",
  () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped(inMemory)
      const tables = yield* TableSourceClientMemory.make({ attachments })
      const source = yield* TableSource.make({ ...options, appendLocalAttachmentPaths: true }).pipe(
        Effect.provideService(TableSourceClient, tables.client)
      )
      const events = yield* Effect.flatMap(EventBus, ({ subscribe }) => subscribe)
      const fetched = yield* Stream.toQueueOfElements(
        Stream.filter(events, ({ name }) => name === "content:fetch:done")
      )
      const show = (day: number) =>
        tables.setTable("Objects", [{ id: "rec1", fields: { day, text: "x".repeat(1000) } }])
      const { dispatch } = yield* CommandBus
      yield* show(0)
      yield* readEvents
      const store = VersionStoreDisk.layer({ directory: folder, keepVersions: 3, ackLease: "30 minutes" })
      const { start } = yield* Content.fromSources({ fetchEvery }, [source]).pipe(
        Effect.provide(yield* Layer.build(store))
      )
      yield* start

      const isAsleep = Effect.zipWith(Clock.currentTimeMillis, TestClock.sleeps(), (now, sleeps) =>
        Chunk.contains(sleeps, now + Duration.toMillis(fetchEvery))
      )
      const nextFetch = Effect.gen(function* () {
        const { payload } = yield* Effect.orDie(Effect.flatten(Queue.take(fetched)))
        yield* eventually(isAsleep)
        return payload
      })
      yield* nextFetch

      let early = yield* whatThereIs(folder)
      for (let day = 1; day <= days; day++) {
        yield* show(day)
        // Somebody comes, shows the content and goes.
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* readEvents
            for (let slept = Duration.zero; Duration.lessThan(slept, "1 day"); ) {
              yield* TestClock.adjust(fetchEvery)
              slept = Duration.sum(slept, fetchEvery)
              const payload = yield* nextFetch
              const { versionId } = Object(payload)
              yield* dispatch({ type: "content.ack", consumerId: `screen-${day % 2}`, versionId })
            }
          })
        )
        yield* transport.clientsBecome(1)
        if (day === firstDays) {
          early = yield* whatThereIs(folder)
        }
      }
      expectNothingGrew(early, yield* whatThereIs(folder))
      const manifest = yield* dispatch({ type: "content.manifest.read" })
      expect(manifest).toMatchObject({
        status: "ok",
        manifest: { generatedAt: expect.stringMatching(/^1970-01-30/) }
      })
    }).pipe(
      Effect.scoped,
      Effect.provide(transport.layer({ keepAliveMs })),
      Effect.provide(Layer.merge(NodeContext.layer, httpClient.layer))
    ),
  600_000
)

/** How often the replica looks: with a minute, as in earnest, it takes minutes. */
const pollEvery = minutes("MONTH_POLL_MINUTES", 120)

/** The files in a folder but those of leases, with when they were changed. */
const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => !name.startsWith("acks") && statSync(`${folder}/${name}`).isFile())
    .map((name) => `${name} ${statSync(`${folder}/${name}`).mtimeMs}`)

it.effect(
  "a replica shows the same for a month without its hub, and logs that once",
  () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped(inMemory)
      const log: Array<string> = []
      const events = yield* Effect.flatMap(EventBus, ({ subscribe }) => subscribe)
      const published: Array<string> = []
      yield* Effect.forkScoped(
        Stream.runForEach(events, ({ name }) => Effect.sync(() => published.push(name)))
      )
      const { dispatch } = yield* CommandBus
      const store = VersionStoreDisk.layer({ directory: folder, keepVersions: 3, ackLease: "30 minutes" })
      const services = yield* Layer.build(store)

      const hubScope = yield* Scope.make()
      const hub = yield* Scope.extend(makeHub, hubScope)
      const versionId = yield* hub.promote({ exhibits: { "objects.json": "[1]" } })
      const { fetch, start } = yield* Replica.make({ from: hub.url, pollEvery }).pipe(
        Effect.provide(services)
      )
      yield* withAdvancingClock(fetch)
      yield* Scope.close(hubScope, Exit.void)
      yield* withLog(log)(start)

      const manifest = yield* dispatch({ type: "content.manifest.read" })
      let early = yield* whatThereIs(folder)
      let before: ReadonlyArray<string> = []
      for (let day = 1; day <= days; day++) {
        yield* withAdvancingClock(Effect.sleep("12 hours"))
        yield* dispatch({ type: "content.ack", consumerId: "screen-1", versionId })
        expect(yield* dispatch({ type: "content.manifest.read" })).toEqual(manifest)
        yield* withAdvancingClock(Effect.sleep("12 hours"))
        if (day === firstDays) {
          early = yield* whatThereIs(folder)
          before = filesOf(folder)
        }
      }
      expectNothingGrew(early, yield* whatThereIs(folder))
      expect(filesOf(folder)).toEqual(before)
      expect(published.filter((name) => name === "content:fetch:error")).toHaveLength(1)
      expect(published.at(-1)).toBe("content:fetch:error")
      expect(log.filter((line) => line.startsWith("WARN"))).toEqual([
        expect.stringMatching(/^WARN Fetch failed, content stays as it is\. Cannot copy from /)
      ])
    }).pipe(
      Effect.scoped,
      Effect.provide(transport.layer({ keepAliveMs })),
      Effect.provide(Layer.merge(NodeContext.layer, httpClient.layer))
    ),
  600_000
)
