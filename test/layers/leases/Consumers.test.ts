import { writeFile } from "node:fs/promises"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as TestClock from "effect/TestClock"
import * as Content from "../../../src/layers/fetching/Content.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import type { ContentSource } from "../../../src/services/ContentSource.ts"
import { VersionStore } from "../../../src/services/VersionStore.ts"
import { contentState, fetch, services, servicesIn } from "../../support/content.ts"
import { eventually } from "../../support/waiting.ts"

const identity = { node: { id: "hall" }, screens: [{ id: "left" }, { id: "right" }] }
const versionId = "19700101T000000Z"
const second = (seconds: number) => new Date(seconds * 1000).toISOString()

const source: ContentSource = {
  id: "objects",
  fetch: ({ directory }) =>
    Effect.as(
      Effect.promise(() => writeFile(`${directory}/text.txt`, "one")),
      { fingerprint: "one", records: 1, bytes: 3 }
    )
}

const start = Effect.zipRight(Content.fromSources({}, [source]), fetch)

const acknowledge = (consumerId: string, details: object = {}) =>
  Effect.flatMap(CommandBus, ({ dispatch }) =>
    dispatch({ type: "content.ack", consumerId, versionId, ...details })
  )

const screens = Effect.map(contentState, ({ screens = [] }) => screens)

describe("the screens of a content plugin", () => {
  it.scoped("have their last report, and since when it is the same", () =>
    Effect.gen(function* () {
      yield* start
      expect(yield* screens).toEqual([])
      yield* acknowledge("left", { renewMs: 60_000, visible: true, drawing: true })
      yield* TestClock.adjust("1 minute")
      yield* acknowledge("left", { renewMs: 60_000, visible: false, drawing: false, problem: "no film" })
      yield* TestClock.adjust("1 minute")
      yield* acknowledge("left", { renewMs: 60_000, visible: false, drawing: false, problem: "no film" })
      const left = {
        id: "left",
        versionId,
        shownSince: second(0),
        heardAt: second(120),
        renewMs: 60_000,
        visible: false,
        drawing: false,
        problem: "no film",
        problemSince: second(60),
        hiddenSince: second(60),
        until: second(1920)
      }
      expect(yield* screens).toEqual([left])
      yield* TestClock.adjust("10 seconds")
      yield* acknowledge("left", { closing: true })
      yield* TestClock.adjust("5 seconds")
      yield* acknowledge("left", { closing: true })
      expect(yield* screens).toEqual([
        { ...left, heardAt: second(135), until: second(255), closedAt: second(130) }
      ])
      yield* acknowledge("left")
      expect(yield* screens).toEqual([
        { id: "left", versionId, shownSince: second(0), heardAt: second(135), until: second(1935) }
      ])
    }).pipe(Effect.provide(services("task")))
  )

  it.scoped("are kept after their lease has expired if they are expected, until the controller ends", () =>
    Effect.gen(function* () {
      yield* start
      for (const id of ["guest", "left"]) {
        yield* acknowledge(id, { renewMs: 60_000 })
        yield* acknowledge(id, { closing: true })
      }
      expect((yield* screens).map(({ id }) => id)).toEqual(["left", "guest"])
      yield* TestClock.adjust("3 minutes")
      yield* fetch
      expect(yield* screens).toMatchObject([{ id: "left", closedAt: second(0), until: second(120) }])
      yield* acknowledge("left")
      expect(yield* screens).toMatchObject([{ id: "left", heardAt: second(180) }])
      expect((yield* screens)[0]).not.toMatchObject({ closedAt: expect.anything() })
    }).pipe(Effect.provide(services("task", identity)))
  )

  it.scoped("are kept after their lease has expired, even if nobody looked meanwhile", () =>
    Effect.gen(function* () {
      yield* start
      yield* acknowledge("left")
      yield* TestClock.adjust("31 minutes")
      yield* fetch
      expect(yield* screens).toMatchObject([{ id: "left", heardAt: second(0), until: second(1800) }])
    }).pipe(Effect.provide(services("task", identity)))
  )

  it.scoped("are known after a restart if they are expected, with their last report", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      const run = Effect.provide(servicesIn(directory, "task", identity))
      yield* Effect.gen(function* () {
        yield* start
        yield* acknowledge("left", { renewMs: 60_000, problem: "no film" })
        yield* acknowledge("guest")
        yield* TestClock.adjust("31 minutes")
        yield* fetch
      }).pipe(Effect.scoped, run)
      expect(yield* fs.readDirectory(`${directory}/acks`)).toEqual(["left.json"])
      yield* TestClock.adjust("1 day")
      yield* Effect.gen(function* () {
        yield* start
        expect(yield* screens).toMatchObject([{ id: "left", heardAt: second(0), until: second(1800) }])
        const { versions } = yield* VersionStore
        expect((yield* versions).flatMap(({ leases }) => leases)).toEqual([])
      }).pipe(Effect.scoped, run)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("are not looked at when another screen acks", () =>
    Effect.gen(function* () {
      const store = yield* VersionStore
      let looks = 0
      const consumers = Effect.tap(store.consumers, () => Effect.sync(() => looks++))
      yield* Effect.provideService(start, VersionStore, { ...store, consumers })
      looks = 0
      yield* acknowledge("left")
      yield* acknowledge("guest")
      expect(looks).toBe(0)
      expect(yield* screens).toHaveLength(2)
    }).pipe(Effect.provide(services("task", identity)))
  )

  const ack = FastCheck.record(
    {
      consumerId: FastCheck.oneof(FastCheck.string(), FastCheck.constantFrom("page-1", "new")),
      versionId: FastCheck.oneof(FastCheck.constant(versionId), FastCheck.string()),
      problem: FastCheck.anything(),
      renewMs: FastCheck.anything(),
      visible: FastCheck.anything(),
      drawing: FastCheck.anything(),
      closing: FastCheck.boolean()
    },
    { requiredKeys: ["consumerId"] }
  )

  it.scoped.prop(
    "are at most 256, whatever acks contain, and keep their versions",
    [FastCheck.array(ack, { maxLength: 20 })],
    ([acks]) =>
      Effect.gen(function* () {
        yield* start
        yield* acknowledge("left")
        const { directory, versions } = yield* VersionStore
        for (let page = 0; page < 300; page++) {
          yield* Effect.promise(() =>
            writeFile(`${directory}/acks/page-${page}.json`, JSON.stringify({ versionId }))
          )
        }
        yield* versions
        yield* Effect.forEach(acks, (ack) => Effect.ignore(acknowledge(ack.consumerId, ack)))
        yield* Effect.flatMap(VersionStore, ({ sweep }) => sweep)
        // On a busy machine, the first reading of so many files takes longer than a look waits.
        yield* eventually(Effect.map(screens, ({ length }) => length > 0))
        const known = yield* screens
        expect(known).toHaveLength(256)
        expect(known[0]).toMatchObject({ id: "left", versionId })
      }).pipe(Effect.provide(services("task", identity))),
    { fastCheck: { numRuns: 3 } }
  )
})
