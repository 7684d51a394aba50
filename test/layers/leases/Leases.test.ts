/**
 * Leases of any number, size and state, and a clock that is set.
 */
import { SystemError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import * as VersionStoreDisk from "../../../src/layers/versions/VersionStoreDisk.ts"
import { type AckDetails, VersionStore } from "../../../src/services/VersionStore.ts"
import { type Case, runCase } from "../../../src/testing/runCase.ts"
import { withCountedFiles } from "../../support/countedFiles.ts"
import { inMemory } from "../../support/inMemory.ts"
import { withJumpingClock } from "../../support/jumpingClock.ts"
import { promote } from "../../support/promote.ts"
import { withSyncs } from "../../support/syncedFiles.ts"
import { eventLoopTurn } from "../../support/waiting.ts"

const storeIn = (directory: string) =>
  VersionStoreDisk.layer({ directory, keepVersions: 1, ackLease: "30 minutes" })

const start = Date.parse("2026-11-21T09:30:00Z")

const scenario = (
  title: string,
  test: Case<
    { readonly directory: string; readonly fs: FileSystem.FileSystem },
    VersionStore | FileSystem.FileSystem | Path.Path
  >,
  store = storeIn
) =>
  it.effect(title, () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped(inMemory)
      yield* TestClock.setTime(start)
      yield* Effect.provide(runCase(Effect.succeed({ directory, fs }), test), store(directory))
    }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))
  )

const acksIn = (directory: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readDirectory(`${directory}/acks`)).pipe(
    Effect.map((names) => names.toSorted())
  )

const sweep = Effect.flatMap(VersionStore, ({ sweep }) => sweep)
const versions = Effect.flatMap(VersionStore, ({ versions }) => versions)
const acknowledge = (consumerId: string, versionId: string, problem?: string) =>
  Effect.flatMap(VersionStore, ({ acknowledge }) =>
    acknowledge(consumerId, versionId, problem === undefined ? {} : { problem })
  )
const acknowledgeWith = (consumerId: string, versionId: string, details: AckDetails) =>
  Effect.flatMap(VersionStore, ({ acknowledge }) => acknowledge(consumerId, versionId, details))
const acknowledgeAll = (count: number, versionId: string) =>
  Effect.forEach(
    Array.from({ length: count }, (_, index) => `screen-${index}`),
    (consumerId) => acknowledge(consumerId, versionId)
  )

/** Writes a file as a consumer does without the controller. */
const write = (file: string, content: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const now = new Date(yield* Effect.clockWith(({ currentTimeMillis }) => currentTimeMillis))
    yield* fs.writeFileString(file, content)
    yield* fs.utimes(file, now, now)
  })

describe("a consumer whose request is given up half way", () => {
  scenario("has a lease that is on disk and counted, or no lease", function* ({ directory }) {
    const { manifest } = yield* promote("one")
    const { consumers } = yield* VersionStore
    for (let turns = 0; turns < 40; turns++) {
      const fiber = yield* Effect.fork(acknowledge(`screen-${turns}`, manifest.versionId))
      yield* Effect.repeatN(eventLoopTurn, turns)
      yield* Fiber.interrupt(fiber)
      const counted = (yield* consumers).map(({ consumerId }) => `${consumerId}.json`)
      expect(counted.toSorted()).toEqual(yield* acksIn(directory))
    }
    expect((yield* consumers).length).toBeGreaterThan(0)
  })
})

describe("expired leases", () => {
  scenario("are removed by a sweep, and no other file is", function* ({ directory }) {
    const { manifest } = yield* promote("one")
    const lease = JSON.stringify({ versionId: manifest.versionId })
    yield* acknowledge("screen-1", manifest.versionId)
    yield* write(`${directory}/acks/unity.json`, lease)
    yield* write(`${directory}/acks/notes.txt`, lease)
    yield* write(`${directory}/acks/package.json`, '{ "name": "kiosk" }')
    yield* write(`${directory}/acks/half.json`, '{ "versionId": "2026')
    yield* TestClock.adjust("29 minutes")
    yield* acknowledge("screen-2", manifest.versionId)
    yield* sweep
    expect(yield* acksIn(directory)).toHaveLength(6)
    yield* TestClock.adjust("2 minutes")
    yield* sweep
    expect(yield* acksIn(directory)).toEqual(["half.json", "notes.txt", "package.json", "screen-2.json"])
  })

  scenario("are removed if they were granted before a restart", function* ({ directory }) {
    const { manifest } = yield* promote("one")
    yield* write(`${directory}/acks/unity.json`, JSON.stringify({ versionId: manifest.versionId }))
    yield* TestClock.adjust("3 days")
    yield* sweep
    expect(yield* acksIn(directory)).toEqual([])
  })

  scenario("are kept if they are renewed at the last moment", function* ({ directory }) {
    const { manifest } = yield* promote("one")
    yield* acknowledge("unity", manifest.versionId)
    yield* TestClock.adjust("31 minutes")
    yield* write(`${directory}/acks/unity.json`, JSON.stringify({ versionId: manifest.versionId }))
    yield* sweep
    expect((yield* versions)[0]?.leases).toMatchObject([{ consumerId: "unity" }])
  })
})

describe("many consumers", () => {
  scenario(
    "are refused a lease if 256 consumers have one, and those can still renew theirs",
    function* ({ directory }) {
      const { manifest } = yield* promote("one")
      yield* acknowledgeAll(256, manifest.versionId)
      const refused = yield* Effect.flip(acknowledge("one-more", manifest.versionId))
      expect(refused).toMatchObject({ _tag: "vitrine/TooManyLeases", limit: 256 })
      expect(refused.message).toBe(
        "256 screens keep a version, which is the limit. Give every screen one consumerId that stays the same when its page reloads; a screen that has not reported for 30m keeps no version."
      )
      yield* TestClock.adjust("20 minutes")
      yield* acknowledge("screen-7", manifest.versionId)
      expect(yield* acksIn(directory)).toHaveLength(256)

      yield* TestClock.adjust("11 minutes")
      yield* acknowledge("one-more", manifest.versionId)
      expect(yield* acksIn(directory)).toEqual(["one-more.json", "screen-7.json"])
    }
  )

  scenario("are still counted after a restart", function* ({ directory }) {
    const store = storeIn(`${directory}/own`)
    const { manifest } = yield* promote("one").pipe(
      Effect.tap(({ manifest }) => acknowledgeAll(256, manifest.versionId)),
      Effect.provide(store)
    )
    const refused = yield* Effect.flip(acknowledge("one-more", manifest.versionId)).pipe(
      Effect.provide(store)
    )
    expect(refused._tag).toBe("vitrine/TooManyLeases")
  })

  const counts = { reads: 0, stats: 0, parts: 0 }
  scenario(
    "have each lease file read once, and checked once for concurrent requests",
    function* ({ directory }) {
      const { manifest } = yield* promote("one")
      for (let index = 0; index < 20; index++) {
        yield* write(
          `${directory}/acks/screen-${index}.json`,
          JSON.stringify({ versionId: manifest.versionId })
        )
      }
      yield* TestClock.adjust("1 minute")
      counts.reads = 0
      expect((yield* versions)[0]?.leases).toHaveLength(20)
      expect((yield* versions)[0]?.leases).toHaveLength(20)
      yield* sweep
      expect(counts.reads).toBe(20)
      counts.stats = 0
      yield* Effect.replicateEffect(versions, 10, { concurrency: "unbounded" })
      expect(counts.stats).toBe(20)
    },
    (directory) => storeIn(directory).pipe(Layer.provide(withCountedFiles(counts, isAck)))
  )
})

scenario(
  "a lease file of another user with a time in the future ends as any other lease",
  function* ({ directory, fs }) {
    const { manifest } = yield* promote("one")
    const file = `${directory}/acks/other.json`
    yield* write(file, JSON.stringify({ versionId: manifest.versionId }))
    yield* fs.utimes(file, new Date(start + 10 ** 10), new Date(start + 10 ** 10))
    expect((yield* versions)[0]?.leases).toHaveLength(1)
    yield* TestClock.adjust("29 minutes")
    expect((yield* versions)[0]?.leases).toHaveLength(1)
    yield* TestClock.adjust("2 minutes")
    expect((yield* versions)[0]?.leases).toEqual([])
    yield* sweep
    expect(yield* acksIn(directory)).toEqual([])
  },
  (directory) => storeIn(directory).pipe(Layer.provide(ofAnotherUser))
)

/** The disk of this machine, where nobody may set the time of a file. */
const ofAnotherUser = Layer.effect(
  FileSystem.FileSystem,
  Effect.map(FileSystem.FileSystem, (fs) =>
    FileSystem.FileSystem.of({
      ...fs,
      utimes: (path) =>
        new SystemError({
          module: "FileSystem",
          reason: "PermissionDenied",
          method: "utimes",
          pathOrDescriptor: path
        })
    })
  )
)

const isAck = (path: string) => /[\\/]acks[\\/]./.test(path)

describe("a lease file", () => {
  scenario("is not read if it is too large", function* ({ directory }) {
    const { manifest } = yield* promote("one")
    const lease = JSON.stringify({ versionId: manifest.versionId })
    yield* write(`${directory}/acks/large.json`, lease.padEnd(5000))
    yield* write(`${directory}/acks/unity.json`, lease.padEnd(4096))
    expect((yield* versions)[0]?.leases).toMatchObject([{ consumerId: "unity" }])
  })

  scenario("is read again when it is replaced within the same moment", function* ({ directory }) {
    const first = yield* promote("one")
    yield* acknowledge("keeper", first.manifest.versionId)
    yield* TestClock.adjust("1 second")
    const second = yield* promote("two")
    for (const { manifest } of [first, second]) {
      yield* write(`${directory}/acks/unity.json`, JSON.stringify({ versionId: manifest.versionId }))
      const shown = (yield* versions).find(({ leases }) =>
        leases.some(({ consumerId }) => consumerId === "unity")
      )
      expect(shown?.versionId).toBe(manifest.versionId)
    }
  })

  scenario("is read once more if it was read within two seconds of its time", function* ({ directory }) {
    const first = yield* promote("one")
    yield* TestClock.adjust("1 second")
    const second = yield* promote("two")
    for (const { manifest } of [first, second]) {
      const file = `${directory}/acks/unity.json`
      yield* write(file, JSON.stringify({ versionId: manifest.versionId }))
      yield* manifest === first.manifest ? versions : TestClock.adjust("1 minute")
    }
    expect((yield* versions).map(({ leases }) => leases.length)).toEqual([0, 1])
  })

  scenario("has the problem of a consumer as one line of limited length", function* ({ directory, fs }) {
    const { manifest } = yield* promote("one")
    const { versionId } = manifest
    yield* acknowledge("screen-1", versionId, "\u001b[2Jno film\r\n\u202e.gpj ")
    yield* acknowledge("screen-2", versionId, "🎞".repeat(600))
    yield* acknowledge("screen-3", versionId, "\n")
    yield* write(`${directory}/acks/unity.json`, JSON.stringify({ versionId, problem: "no\tsound" }))
    yield* write(`${directory}/acks/other.json`, JSON.stringify({ versionId, problem: 7 }))
    const problems = (yield* versions)[0]?.leases.map(({ consumerId, problem }) => [consumerId, problem])
    expect(Object.fromEntries(problems ?? [])).toEqual({
      "screen-1": "[2Jno film �.gpj",
      "screen-2": `${"🎞".repeat(500)}…`,
      "screen-3": undefined,
      unity: "no sound",
      other: undefined
    })
    expect(JSON.parse(yield* fs.readFileString(`${directory}/acks/screen-1.json`))).toEqual({
      versionId,
      problem: "[2Jno film �.gpj"
    })
  })
})

scenario("causes no problem after a restart until its consumer is back", function* ({ directory }) {
  const store = storeIn(`${directory}/own`)
  const { manifest } = yield* promote("one").pipe(
    Effect.tap(({ manifest: { versionId } }) =>
      Effect.flatMap(VersionStore, ({ acknowledge }) =>
        acknowledge("page", versionId, { problem: "no film", renewMs: 60_000 })
      )
    ),
    Effect.provide(store)
  )
  yield* TestClock.adjust("3 minutes")
  yield* Effect.gen(function* () {
    expect((yield* versions)[0]?.leases).toEqual([
      {
        consumerId: "page",
        versionId: manifest.versionId,
        until: start + 30 * 60_000,
        heardAt: start,
        isSilent: true
      }
    ])
    yield* acknowledge("page", manifest.versionId, "no film")
    expect((yield* versions)[0]?.leases).toMatchObject([{ problem: "no film" }])
  }).pipe(Effect.provide(store))
})

describe("a renewal without a change", () => {
  const counts = { reads: 0, stats: 0, parts: 0 }
  const synced: Array<string> = []
  const counted = withCountedFiles(counts, isAck).pipe(
    Layer.provide(
      withSyncs((path) => {
        synced.push(path)
        return undefined
      })
    )
  )
  scenario(
    "changes only the time of its file, without a write or a sync",
    function* ({ directory, fs }) {
      const { manifest } = yield* promote("one")
      const details = { renewMs: 60_000, visible: true, drawing: true }
      const file = `${directory}/acks/page.json`
      const renewedAt = Effect.map(fs.stat(file), ({ mtime }) => Option.getOrUndefined(mtime)?.getTime())
      yield* acknowledgeWith("page", manifest.versionId, details)
      yield* TestClock.adjust("1 minute")
      counts.reads = 0
      counts.stats = 0
      synced.length = 0
      yield* acknowledgeWith("page", manifest.versionId, details)
      expect([counts.stats, synced]).toEqual([1, []])
      yield* versions
      expect([counts.reads, counts.stats]).toEqual([0, 1])
      expect(yield* renewedAt).toBe(start + 60_000)
      expect((yield* versions)[0]?.leases).toMatchObject([{ heardAt: start + 60_000, isSilent: false }])

      yield* acknowledgeWith("page", manifest.versionId, { ...details, visible: false })
      expect(synced.length).toBeGreaterThanOrEqual(2)
      expect(JSON.parse(yield* fs.readFileString(file))).toEqual({
        versionId: manifest.versionId,
        ...details,
        visible: false
      })
    },
    (directory) => storeIn(directory).pipe(Layer.provide(counted))
  )

  scenario(
    "leaves its file alone for a minute, and then finds the change of another program",
    function* ({ directory }) {
      const { versionId } = (yield* promote("one")).manifest
      yield* acknowledge("page", versionId)
      counts.stats = 0
      yield* TestClock.adjust("59 seconds")
      yield* acknowledge("page", versionId)
      expect((yield* versions)[0]?.leases).toMatchObject([{ heardAt: start + 59_000 }])
      expect(counts.stats).toBe(0)
      yield* TestClock.adjust(2)
      yield* write(`${directory}/acks/page.json`, JSON.stringify({ versionId, problem: "no film" }))
      yield* TestClock.adjust("1 second")
      expect((yield* versions)[0]?.leases).toMatchObject([{ problem: "no film" }])
      expect(counts.stats).toBe(1)
    },
    (directory) => storeIn(directory).pipe(Layer.provide(counted))
  )

  scenario("begins a problem anew if its consumer was silent", function* () {
    const { versionId } = (yield* promote("one")).manifest
    const problemSince = Effect.map(versions, ([version]) => version?.leases[0]?.problemSince)
    const ack = acknowledgeWith("page", versionId, { renewMs: 20_000, problem: "no film" })
    yield* ack
    yield* TestClock.adjust("20 seconds")
    yield* ack
    expect(yield* problemSince).toBe(start)
    yield* TestClock.adjust("39 seconds")
    expect(yield* problemSince).toBe(start)
    yield* TestClock.adjust("20 seconds")
    yield* ack
    yield* TestClock.adjust("41 seconds")
    expect(yield* problemSince).toBeUndefined()
    yield* ack
    expect(yield* problemSince).toBe(start + 120_000)
  })

  scenario("is known after a restart, so that its consumer is not silent then", function* ({ directory }) {
    const store = storeIn(`${directory}/own`)
    yield* Effect.gen(function* () {
      const { versionId } = (yield* promote("one")).manifest
      const ack = acknowledgeWith("page", versionId, { renewMs: 20_000 })
      yield* ack
      yield* Effect.zipRight(TestClock.adjust("20 seconds"), ack)
      yield* Effect.zipRight(TestClock.adjust("20 seconds"), ack)
      yield* TestClock.adjust("10 seconds")
    }).pipe(Effect.provide(store))
    yield* TestClock.adjust("5 seconds")
    const leases = Effect.map(versions, ([version]) => version?.leases)
    expect(yield* Effect.provide(leases, store)).toMatchObject([{ heardAt: start + 40_000, isSilent: false }])
  })

  scenario("counts more than a file that was removed or replaced before", function* ({ directory, fs }) {
    const { versionId } = (yield* promote("one")).manifest
    const file = (name: string) => `${directory}/acks/${name}.json`
    const both = (ack: (name: string) => ReturnType<typeof acknowledge>) =>
      Effect.zipRight(ack("removed"), ack("replaced"))
    yield* both((name) => acknowledge(name, versionId))
    yield* TestClock.adjust("1 second")
    yield* fs.remove(file("removed"))
    yield* write(file("replaced"), JSON.stringify({ versionId, problem: "no film" }))
    yield* TestClock.adjust("1 second")
    yield* both((name) => acknowledge(name, versionId))
    yield* promote("two")
    expect(yield* sweep).toEqual([])
    yield* TestClock.adjust("1 minute")
    const [first] = yield* versions
    expect(first?.leases.map(({ problem }) => problem)).toEqual([undefined, undefined])
    yield* both((name) => acknowledge(name, versionId))
    for (const name of ["removed", "replaced"]) {
      expect(JSON.parse(yield* fs.readFileString(file(name)))).toEqual({ versionId })
    }
  })

  scenario("writes the file again if it is gone or was changed", function* ({ directory, fs }) {
    const { versionId } = (yield* promote("one")).manifest
    const file = `${directory}/acks/page.json`
    yield* acknowledge("page", versionId)
    yield* fs.remove(file)
    yield* TestClock.adjust("1 minute")
    yield* acknowledge("page", versionId)
    expect(JSON.parse(yield* fs.readFileString(file))).toEqual({ versionId })
    yield* write(file, JSON.stringify({ versionId, problem: "no film" }))
    yield* TestClock.adjust("1 minute")
    yield* acknowledge("page", versionId)
    expect(JSON.parse(yield* fs.readFileString(file))).toEqual({ versionId })
  })
})

describe("a consumer that reports that it closes", () => {
  const page = { renewMs: 60_000, visible: true }

  scenario("keeps its version for two minutes, and longer if it renews its lease", function* ({ directory }) {
    const { versionId } = (yield* promote("one")).manifest
    yield* acknowledgeWith("page", versionId, page)
    yield* TestClock.adjust("30 seconds")
    yield* promote("two")
    yield* acknowledgeWith("page", versionId, { closing: true })
    expect(
      JSON.parse(
        yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFileString(`${directory}/acks/page.json`))
      )
    ).toEqual({ versionId, ...page, closing: true })
    yield* TestClock.adjust("2 minutes")
    expect(yield* sweep).toEqual([])
    yield* acknowledgeWith("page", versionId, page)
    yield* TestClock.adjust("29 minutes")
    expect(yield* sweep).toEqual([])

    yield* acknowledgeWith("page", versionId, { closing: true })
    yield* TestClock.adjust("121 seconds")
    expect(yield* sweep).toEqual([versionId])
    expect(yield* acksIn(directory)).toEqual([])
  })

  scenario("can report that in its lease file", function* ({ directory }) {
    const { versionId } = (yield* promote("one")).manifest
    yield* TestClock.adjust("1 second")
    yield* promote("two")
    yield* write(`${directory}/acks/page.json`, JSON.stringify({ versionId, ...page, closing: true }))
    expect((yield* versions)[0]?.leases).toMatchObject([{ until: start + 121_000 }])
    yield* TestClock.adjust("121 seconds")
    expect(yield* sweep).toEqual([versionId])
  })

  scenario("gets no lease if it had none", function* () {
    const { versionId } = (yield* promote("one")).manifest
    yield* acknowledgeWith("page", versionId, { closing: true })
    expect((yield* versions)[0]?.leases).toEqual([])
  })
})

describe("two pages with one id", () => {
  const ack = (runId: string, versionId: string, details: AckDetails = {}) =>
    acknowledgeWith("left", versionId, { runId, renewMs: 60_000, visible: true, drawing: true, ...details })
  const screen = Effect.flatMap(VersionStore, ({ consumers }) =>
    Effect.map(consumers, (consumers) => consumers.find(({ consumerId }) => consumerId === "left"))
  )
  const at = (seconds: number) => start + seconds * 1000

  scenario("are reported after both have renewed their leases, until one of them closes", function* () {
    const { versionId } = (yield* promote("one")).manifest
    yield* ack("wall", versionId)
    yield* TestClock.adjust("20 seconds")
    yield* ack("desk", versionId, { visible: false })
    expect(yield* screen).not.toMatchObject({ runs: expect.anything() })
    yield* TestClock.adjust("10 seconds")
    yield* ack("wall", versionId)
    const runs = [
      { since: at(0), heardAt: at(30), visible: true },
      { since: at(20), heardAt: at(20), visible: false }
    ]
    expect(yield* screen).toMatchObject({ heardAt: at(30), runs })
    yield* TestClock.adjust("10 seconds")
    yield* ack("desk", versionId, { visible: false })
    expect(yield* screen).toMatchObject({ runs: [runs[0], { ...runs[1], heardAt: at(40) }] })

    yield* ack("desk", versionId, { closing: true })
    const left = yield* screen
    expect(left).not.toMatchObject({ runs: expect.anything() })
    expect(left).not.toMatchObject({ closedAt: expect.anything() })
    expect(left).toMatchObject({ heardAt: at(30), visible: true })
  })

  scenario("close independently of each other, whichever renewed its lease last", function* () {
    const { versionId } = (yield* promote("one")).manifest
    yield* ack("wall", versionId)
    yield* TestClock.adjust("20 seconds")
    yield* ack("desk", versionId)
    yield* TestClock.adjust("5 seconds")
    yield* ack("wall", versionId, { closing: true })
    expect(yield* screen).not.toMatchObject({ closedAt: expect.anything() })
    expect(yield* screen).toMatchObject({ heardAt: at(20) })
    yield* ack("desk", versionId, { closing: true })
    expect(yield* screen).toMatchObject({ closedAt: at(25) })
  })

  scenario("ignore a renewal that was sent before they closed and arrives later", function* () {
    const { versionId } = (yield* promote("one")).manifest
    for (const run of ["wall", "desk", "wall", "desk"]) {
      yield* ack(run, versionId)
    }
    expect(yield* screen).toHaveProperty("runs")
    yield* ack("desk", versionId, { closing: true })
    yield* ack("desk", versionId, { visible: false })
    yield* ack("wall", versionId)
    expect(yield* screen).not.toMatchObject({ runs: expect.anything() })
    yield* ack("wall", versionId, { closing: true })
    yield* ack("wall", versionId, { visible: false })
    expect(yield* screen).toMatchObject({ closedAt: at(0), visible: true })

    yield* TestClock.adjust("6 seconds")
    yield* ack("wall", versionId)
    expect(yield* screen).not.toMatchObject({ closedAt: expect.anything() })
    expect(yield* screen).toMatchObject({ heardAt: at(6) })
  })

  scenario("ignore a lease file that was written while they closed", function* ({ directory }) {
    const { versionId } = (yield* promote("one")).manifest
    for (const run of ["wall", "desk", "wall", "desk"]) {
      yield* ack(run, versionId)
    }
    yield* ack("desk", versionId, { closing: true })
    yield* write(`${directory}/acks/left.json`, JSON.stringify({ versionId, renewMs: 60_000, runId: "desk" }))
    yield* Effect.flatMap(VersionStore, ({ versions }) => versions)
    yield* ack("wall", versionId)
    expect(yield* screen).not.toMatchObject({ runs: expect.anything() })
  })

  scenario("do not count as restarts if a link leads from one page to the next", function* () {
    const { versionId } = (yield* promote("one")).manifest
    for (const run of ["first", "second", "third", "fourth"]) {
      yield* ack(run, versionId, { navigated: true })
      yield* ack(run, versionId, { closing: true })
    }
    yield* ack("fifth", versionId, { navigated: true })
    const found = yield* screen
    expect(found).not.toMatchObject({ restarts: expect.anything() })
    expect(found).not.toMatchObject({ closedAt: expect.anything() })
    expect(found).not.toMatchObject({ navigated: expect.anything() })
    // The process ended: whoever starts the page again opens its address.
    yield* ack("sixth", versionId, { navigated: true })
    expect(yield* screen).toMatchObject({ restarts: 1 })
  })

  scenario("count as restarts of one page if the first is silent", function* () {
    const { versionId } = (yield* promote("one")).manifest
    for (const run of ["first", "second", "third", "fourth"]) {
      yield* ack(run, versionId)
      yield* TestClock.adjust("10 seconds")
      yield* ack(run, versionId)
      yield* run === "second" ? ack(run, versionId, { closing: true }) : Effect.void
    }
    const found = yield* screen
    expect(found).toMatchObject({ restarts: 3 })
    expect(found).not.toMatchObject({ runs: expect.anything() })
    yield* TestClock.adjust("10 minutes")
    expect(yield* screen).not.toMatchObject({ restarts: expect.anything() })
  })
})

it.effect.prop(
  "a consumer keeps its version even if another page with its id reports that it closes",
  [
    FastCheck.array(
      FastCheck.record({
        consumerId: FastCheck.constantFrom("page", "engine"),
        isOld: FastCheck.boolean(),
        problem: FastCheck.string(),
        renewMs: FastCheck.double({ min: 1, noNaN: true }),
        visible: FastCheck.boolean(),
        drawing: FastCheck.boolean(),
        afterMs: FastCheck.integer({ min: 0, max: 60_000 })
      }),
      { maxLength: 8 }
    )
  ],
  ([forged]) =>
    Effect.gen(function* () {
      const directory = yield* Effect.flatMap(FileSystem.FileSystem, (fs) =>
        fs.makeTempDirectoryScoped(inMemory)
      )
      yield* TestClock.setTime(start)
      yield* Effect.gen(function* () {
        const { versionId } = (yield* promote("one")).manifest
        yield* TestClock.adjust("1 second")
        const active = (yield* promote("two")).manifest.versionId
        yield* acknowledgeWith("page", versionId, { renewMs: 60_000 })
        yield* acknowledgeWith("engine", versionId, {})
        for (const { afterMs, consumerId, isOld, ...details } of forged) {
          yield* TestClock.adjust(afterMs)
          yield* acknowledgeWith(consumerId, isOld ? versionId : active, { ...details, closing: true })
          // The page renews in time; the engine renews every ten minutes.
          yield* acknowledgeWith("page", versionId, { renewMs: 60_000 })
        }
        yield* TestClock.adjust("1 minute")
        expect(yield* sweep).toEqual([])
        const kept = (yield* versions)[0]?.leases.map(({ consumerId }) => consumerId)
        expect(kept?.toSorted()).toEqual(["engine", "page"])
      }).pipe(Effect.provide(storeIn(directory)))
    }).pipe(Effect.scoped, Effect.provide(NodeContext.layer)),
  { fastCheck: { numRuns: 10 } }
)

scenario(
  "a version does not count as shown by a screen that closes, until the screen renews its lease",
  function* () {
    const { manifest } = yield* promote("one")
    const { versionId } = manifest
    const page = { problem: "no film", renewMs: 60_000, visible: true, drawing: true }
    const lease = Effect.map(versions, ([version]) => version?.leases[0])
    yield* acknowledgeWith("page", versionId, page)
    expect(yield* lease).toMatchObject({ isSilent: false, problemSince: start })

    yield* TestClock.adjust("1 minute")
    yield* acknowledgeWith("page", versionId, { closing: true })
    expect(yield* lease).toEqual({
      consumerId: "page",
      versionId,
      until: start + 180_000,
      heardAt: start + 60_000,
      isSilent: true
    })

    yield* TestClock.adjust("1 second")
    yield* acknowledgeWith("page", versionId, page)
    expect(yield* lease).toMatchObject({ isSilent: false, problem: "no film", problemSince: start })
  }
)

scenario(
  "a lease file with an invalid interval counts as renewed every ten minutes",
  function* ({ directory }) {
    const { manifest } = yield* promote("one")
    const { versionId } = manifest
    for (const [name, renewMs] of [
      ["one", 60_000],
      ["two", "soon"],
      ["three", -1]
    ] as const) {
      yield* write(`${directory}/acks/${name}.json`, JSON.stringify({ versionId, renewMs }))
    }
    yield* TestClock.adjust("3 minutes")
    const silent = (yield* versions)[0]?.leases.flatMap(({ consumerId, isSilent }) =>
      isSilent ? [consumerId] : []
    )
    expect(silent).toEqual(["one"])
  }
)

describe("a lease that is not renewed", () => {
  scenario("has the same times at each look, however two clocks round", function* () {
    const { manifest } = yield* promote("one")
    const consumers = Effect.flatMap(VersionStore, ({ consumers }) => consumers)
    yield* Effect.withClock(acknowledge("left", manifest.versionId), Clock.make())
    const looks = yield* Effect.replicateEffect(Effect.withClock(consumers, Clock.make()), 300)
    expect(new Set(looks.map(([left]) => left?.heardAt)).size).toBe(1)
  })
})

describe("a system clock that is set", () => {
  for (const [title, jump] of [
    ["forward", 365 * 86_400_000],
    ["back", -365 * 86_400_000]
  ] as const) {
    scenario(`${title} does not change how long leases last`, function* ({ directory }) {
      yield* withJumpingClock(({ adjust, set }) =>
        Effect.gen(function* () {
          const { manifest } = yield* promote("one")
          yield* acknowledge("screen-1", manifest.versionId)
          yield* write(`${directory}/acks/unity.json`, JSON.stringify({ versionId: manifest.versionId }))
          yield* versions
          yield* set(jump)
          yield* adjust("29 minutes")
          yield* sweep
          expect((yield* versions)[0]?.leases).toEqual(
            ["screen-1", "unity"].map((consumerId) => ({
              consumerId,
              versionId: manifest.versionId,
              until: start + jump + 30 * 60_000,
              heardAt: start + jump,
              isSilent: false
            }))
          )
          yield* adjust("2 minutes")
          yield* sweep
          expect(yield* acksIn(directory)).toEqual([])
        })
      )
    })
  }
})
