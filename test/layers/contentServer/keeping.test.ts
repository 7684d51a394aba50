/**
 * A version that is read over HTTP, in the folder of a store that sweeps.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import * as ActiveVersion from "../../../src/layers/fetching/ActiveVersion.ts"
import { registerCommands } from "../../../src/layers/fetching/registerCommands.ts"
import * as VersionStoreDisk from "../../../src/layers/versions/VersionStoreDisk.ts"
import { ContentServer } from "../../../src/services/ContentServer.ts"
import { VersionStore } from "../../../src/services/VersionStore.ts"
import * as server from "../../support/contentServer.ts"
import { format } from "../../support/rawHttp.ts"
import { eventually, somebodySleeps } from "../../support/waiting.ts"

const large = 48_000_000

/** So many bytes that are read make room in the buffers of the system, so that the server notices. */
const noticed = 3_000_000

const running = Layer.unwrapScoped(
  Effect.map(server.makeFolder, (directory) =>
    server
      .layer({ downloadPath: directory })
      .pipe(Layer.provideMerge(VersionStoreDisk.layer({ directory, keepVersions: 1 })))
  )
).pipe(Layer.provideMerge(server.environment))

/** Promotes a version, and returns its id. */
const promote = (fingerprint: string, size = large) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const store = yield* VersionStore
    const staged = yield* store.stage
    const folder = yield* staged.sourceDirectory("exhibits")
    yield* fs.writeFile(`${folder}/film.mp4`, Buffer.alloc(size, fingerprint))
    const { manifest } = yield* staged.promote([{ sourceId: "exhibits", fingerprint }])
    return manifest.versionId
  }).pipe(Effect.scoped)

const registerKeep = Effect.gen(function* () {
  yield* registerCommands("content", {
    fetch: Effect.never,
    accept: () => Effect.never,
    check: undefined,
    sample: undefined,
    acknowledged: () => Effect.void,
    report: () => Effect.void
  }).pipe(Effect.provideServiceEffect(ActiveVersion.ActiveVersion, ActiveVersion.silent))
})

it.scoped("a version is not removed while it is read, and is some time after the last read", () =>
  Effect.gen(function* () {
    const store = yield* VersionStore
    yield* registerKeep
    const first = yield* promote("1")
    const reader = yield* server.connect
    reader.stall()
    reader.send(format({ target: `/versions/${first}/exhibits/film.mp4` }))
    const { statistics } = yield* ContentServer
    yield* eventually(Effect.map(statistics, ({ openResponses }) => openResponses === 1))
    yield* somebodySleeps
    yield* TestClock.adjust("1 second")
    yield* promote("2")
    expect(yield* store.sweep).toEqual([])

    // For longer than it is kept at once, it goes on reading a little.
    for (let times = 0; times < 8; times++) {
      const before = reader.received.size()
      reader.resume()
      yield* eventually(Effect.sync(() => reader.received.size() > before + noticed))
      reader.stall()
      yield* TestClock.adjust("20 seconds")
    }
    expect(yield* store.sweep).toEqual([])
    expect((yield* server.get(`/versions/${first}/files.json`)).status).toBe(200)
    reader.resume()
    expect((yield* reader.received.whole).length).toBeGreaterThan(large)

    yield* TestClock.adjust("4 minutes")
    expect(yield* store.sweep).toEqual([first])
    expect((yield* server.get(`/versions/${first}/files.json`)).status).toBe(404)
  }).pipe(Effect.provide(running))
)

it.scoped(
  "a page that reads one byte of each version keeps only four of them, and a slow reader keeps its own",
  () =>
    Effect.gen(function* () {
      const store = yield* VersionStore
      yield* registerKeep
      const versionIds = Effect.map(store.versions, (versions) => versions.map(({ versionId }) => versionId))
      const readAll = Effect.flatMap(versionIds, (ids) =>
        Effect.forEach(ids, (id) => server.get(`/versions/${id}/exhibits/film.mp4`, { Range: "bytes=0-0" }))
      )
      const promoteAndSweep = (fingerprint: string) =>
        Effect.gen(function* () {
          yield* promote(fingerprint, 1000)
          yield* readAll
          yield* store.sweep
        })
      yield* Effect.forEach(["1", "2", "3", "4", "5", "6"], promoteAndSweep)
      expect(yield* versionIds).toHaveLength(5)

      const read = yield* promote("read")
      const reader = yield* server.connect
      reader.stall()
      reader.send(format({ target: `/versions/${read}/exhibits/film.mp4` }))
      const { statistics } = yield* ContentServer
      yield* eventually(Effect.map(statistics, ({ openResponses }) => openResponses === 1))
      for (const fingerprint of ["7", "8", "9", "10", "11", "12", "13", "14"]) {
        const before = reader.received.size()
        reader.resume()
        yield* eventually(Effect.sync(() => reader.received.size() > before + noticed))
        reader.stall()
        yield* somebodySleeps
        yield* TestClock.adjust("20 seconds")
        yield* promoteAndSweep(fingerprint)
      }
      expect(yield* versionIds).toHaveLength(5)
      expect(yield* versionIds).toContain(read)

      expect(yield* store.evict).toHaveLength(4)
    }).pipe(Effect.provide(running))
)
