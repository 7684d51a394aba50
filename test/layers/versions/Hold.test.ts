/**
 * Versions that are released by hand.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import { describe, expect } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import * as VersionStoreDisk from "../../../src/layers/versions/VersionStoreDisk.ts"
import { VersionStore } from "../../../src/services/VersionStore.ts"
import { promote, promoteLater, versionIds } from "../../support/promote.ts"
import { inFolder } from "../../support/scenario.ts"

const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

const storeIn = (directory: string, release: "at once" | "by hand") =>
  VersionStoreDisk.layer({ directory, keepVersions: 1, release })

const idOf = (second: number) => `19700101T00000${second}Z`
const since = (second: number) => `1970-01-01T00:00:0${second}.000Z`

describe("versions that are released by hand", () => {
  inFolder(
    "wait, except the first, until somebody releases a version, also after restarts and sweeps",
    function* ({ directory }) {
      const byHand = storeIn(directory, "by hand")
      yield* Effect.gen(function* () {
        expect((yield* promote("zero")).manifest).not.toHaveProperty("held")
        expect(yield* promoteLater("one")).toMatchObject({
          changed: true,
          manifest: { versionId: idOf(0), held: { since: since(1), byRule: true, waiting: idOf(1) } }
        })
      }).pipe(Effect.provide(byHand))
      yield* Effect.gen(function* () {
        const store = yield* VersionStore
        const held = { since: since(1), byRule: true, waiting: idOf(2) }
        expect((yield* promoteLater("two")).manifest).toMatchObject({ versionId: idOf(0), held })
        expect((yield* promoteLater("two")).changed).toBe(false)
        expect(yield* store.sweep).toEqual([idOf(1)])
        expect(yield* versionIds).toEqual([idOf(0), idOf(2)])

        const released = yield* store.release({ by: "anna@desk" })
        expect(released.versionId).toBe(idOf(2))
        expect(released).not.toHaveProperty("held")
        expect(released.released).toEqual({ at: since(3), by: "anna@desk" })
        expect((yield* promoteLater("four")).manifest).toMatchObject({
          versionId: idOf(2),
          held: { since: since(4), byRule: true, waiting: idOf(4) },
          released: { at: since(3), by: "anna@desk" }
        })
        expect(yield* store.release({ versionId: idOf(0) })).toMatchObject({
          versionId: idOf(0),
          held: { since: since(4), byRule: true, waiting: idOf(4) }
        })
      }).pipe(Effect.provide(byHand))
    }
  )

  inFolder("still wait for a release after an older one was released", function* ({ directory }) {
    yield* Effect.gen(function* () {
      const store = yield* VersionStore
      yield* promote("zero")
      yield* promoteLater("one")
      yield* store.release({})
      expect(yield* store.release({ versionId: idOf(0) })).toMatchObject({
        versionId: idOf(0),
        held: { byRule: true, waiting: idOf(1) }
      })
    }).pipe(Effect.provide(storeIn(directory, "by hand")))
  })

  inFolder("keep their ids, even if one was removed by hand and the clock goes back", function* () {
    const fs = yield* FileSystem.FileSystem
    const directory = yield* temporary
    yield* Effect.gen(function* () {
      yield* promote("zero")
      yield* promoteLater("one")
      yield* fs.remove(`${directory}/versions/${idOf(1)}`, { recursive: true })
      yield* TestClock.setTime(0)
      expect((yield* promote("two")).manifest.held?.waiting).toBe(`${idOf(1)}-01`)
    }).pipe(Effect.provide(storeIn(directory, "by hand")))
  })

  inFolder(
    "may also be held by somebody, whose hold ends with the latest version",
    function* ({ directory }) {
      yield* Effect.gen(function* () {
        const store = yield* VersionStore
        yield* promote("zero")
        yield* promoteLater("one")
        const held = { since: since(1), by: "anna@desk", waiting: idOf(1) }
        const { versionId } = yield* store.hold({ by: "anna@desk" })
        expect(yield* store.manifest).toMatchObject({ manifest: { versionId, held } })
        expect((yield* store.release({})).held).toEqual({ since: since(1), by: "anna@desk" })
        yield* promoteLater("two")
        const resumed = yield* store.resume({ by: "ben@desk" })
        expect(resumed.versionId).toBe(idOf(2))
        expect(resumed).not.toHaveProperty("held")
        expect(resumed.released).toEqual({ at: since(2), by: "ben@desk" })
        expect((yield* promoteLater("three")).manifest).toMatchObject({
          versionId: idOf(2),
          held: { since: since(3), byRule: true, waiting: idOf(3) }
        })
      }).pipe(Effect.provide(storeIn(directory, "by hand")))
    }
  )

  inFolder(
    "need no release any more if the option is removed: the next version becomes active",
    function* ({ directory }) {
      yield* Effect.all([promote("zero"), promoteLater("one")]).pipe(
        Effect.provide(storeIn(directory, "by hand"))
      )
      yield* Effect.gen(function* () {
        const store = yield* VersionStore
        expect(yield* store.manifest).toMatchObject({ manifest: { versionId: idOf(0) } })
        const { manifest } = yield* promoteLater("two")
        expect(manifest.versionId).toBe(idOf(2))
        expect(manifest).not.toHaveProperty("held")
      }).pipe(Effect.provide(storeIn(directory, "at once")))
    }
  )

  inFolder("have no waiting version if its folder is gone", function* () {
    const fs = yield* FileSystem.FileSystem
    const directory = yield* temporary
    yield* Effect.gen(function* () {
      const store = yield* VersionStore
      const { manifest } = yield* promote("zero")
      yield* promoteLater("one")
      yield* fs.remove(`${directory}/versions/${idOf(1)}`, { recursive: true })
      expect(yield* store.manifest).toEqual({ status: "ok", manifest })
    }).pipe(Effect.provide(storeIn(directory, "by hand")))
  })
})
