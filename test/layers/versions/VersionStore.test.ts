/**
 * The contract of `VersionStore`, tested with the store on disk.
 */
import { isAbsolute, join } from "node:path"
import { describe, expect } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import { sha256OfText } from "../../../src/files/sha256.ts"
import { DownloadsInUse, type ManifestState, VersionStore } from "../../../src/services/VersionStore.ts"
import {
  copyAs,
  latestContent,
  latestFileList,
  latestList,
  previousOf,
  promote,
  promoteCopy,
  promoteLater,
  promoteSources,
  versionIds
} from "../../support/promote.ts"
import { inFolder, inStore, storeIn } from "../../support/scenario.ts"

describe("VersionStore", () => {
  inStore("has no manifest before the first promotion", function* ({ store }) {
    expect(yield* store.manifest).toEqual({ status: "missing" } satisfies ManifestState)
    expect(yield* store.versions).toEqual([])
  })

  inStore("promotes what was staged and names it in the manifest", function* ({ store }) {
    yield* TestClock.setTime(Date.parse("2026-11-21T09:30:00.250Z"))
    const { changed, manifest } = yield* promote("one")
    expect(changed).toBe(true)
    expect(manifest).toEqual({
      schemaVersion: 1,
      versionId: "20261121T093000Z",
      versionPath: "versions/20261121T093000Z",
      generatedAt: "2026-11-21T09:30:00.250Z",
      sources: [{ sourceId: "objects", path: "objects" }],
      filesSha256: expect.stringMatching(/^[0-9a-f]{64}$/)
    })
    expect(yield* store.manifest).toEqual({ status: "ok", manifest })
    expect(yield* store.versions).toEqual([
      { versionId: "20261121T093000Z", active: true, isWaiting: false, leases: [], isRead: false }
    ])
  })

  inStore("promotes nothing if the active version has the same content", function* () {
    const first = yield* promote("one")
    const again = yield* promoteLater("one")
    expect(again).toEqual({ changed: false, manifest: first.manifest })
    expect(yield* versionIds).toEqual([first.manifest.versionId])
  })

  inStore("promotes nothing if only the order of the sources is another one", function* () {
    const { manifest } = yield* promoteSources({ objects: { "o.txt": "1" }, tours: { "t.txt": "1" } })
    yield* TestClock.adjust("1 second")
    const again = yield* promoteSources({ tours: { "t.txt": "1" }, objects: { "o.txt": "1" } })
    expect(again).toEqual({ changed: false, manifest })
  })

  inStore(
    "reuses the files of a source that has not changed, whatever was staged for it",
    function* ({ fs, store }) {
      yield* promoteSources({ objects: { "Objects.json": "1", "files/a/b.png": "2" }, tours: { t: "1" } })
      const before = Option.getOrThrow(yield* previousOf("objects"))
      yield* fs.writeFileString(join(before.directory, "files", "not-ours"), "")
      const second = yield* Effect.gen(function* () {
        const staged = yield* store.stage
        const objects = yield* staged.sourceDirectory("objects")
        yield* fs.writeFileString(join(objects, "half"), "")
        const tours = yield* staged.sourceDirectory("tours")
        yield* fs.writeFileString(join(tours, "t"), "2")
        return yield* staged.promote([
          { sourceId: "objects", fingerprint: Option.getOrThrow(before.fingerprint) },
          { sourceId: "tours", fingerprint: "2" }
        ])
      }).pipe(Effect.scoped)
      expect(second.changed).toBe(true)
      const { directory, fingerprint } = Option.getOrThrow(yield* previousOf("objects"))
      expect(directory).not.toBe(before.directory)
      expect(fingerprint).toEqual(before.fingerprint)
      expect((yield* fs.readDirectory(directory, { recursive: true })).toSorted()).toEqual(
        ["Objects.json", "files", join("files", "a"), join("files", "a", "b.png")].toSorted()
      )
      expect(yield* fs.readFileString(join(directory, "files", "a", "b.png"))).toBe("2")
    }
  )

  inStore(
    "lists all files of a version with their sizes and digests, and names the list in the manifest",
    function* () {
      const { manifest } = yield* promoteSources({
        tours: { "b.json": "", "a/ü.txt": "ü" },
        objects: { "Objects.json": "one" }
      })
      const { list, text } = yield* latestList
      const { generatedAt, versionId } = manifest
      const file = (content: string) => ({
        size: Buffer.byteLength(content),
        sha256: sha256OfText(content)
      })
      expect(list).toEqual({
        schemaVersion: 1,
        versionId,
        generatedAt,
        sources: [
          { sourceId: "tours", fingerprint: ",ü", files: { "a/ü.txt": file("ü"), "b.json": file("") } },
          { sourceId: "objects", fingerprint: "one", files: { "Objects.json": file("one") } }
        ]
      })
      expect(text.indexOf("a/ü.txt")).toBeLessThan(text.indexOf("b.json"))
      expect(manifest.filesSha256).toBe(sha256OfText(text))
      expect(Option.getOrThrow(yield* previousOf("tours")).files).toEqual(list.sources[0]?.files)
    }
  )

  inStore(
    "uses the digests that a source gives, and keeps digests and record counts of an unchanged source",
    function* ({ fs, store }) {
      const given = sha256OfText("given")
      const promoteWith = (...fingerprints: ReadonlyArray<string>) =>
        Effect.gen(function* () {
          const staged = yield* store.stage
          for (const sourceId of ["objects", "tours"]) {
            yield* fs.writeFileString(`${yield* staged.sourceDirectory(sourceId)}/text`, "one")
          }
          const [objects = "", tours = ""] = fingerprints
          return yield* staged.promote([
            {
              sourceId: "objects",
              fingerprint: objects,
              ...(objects === "1" && tours === "1" ? { records: 7, digests: { text: given } } : {})
            },
            { sourceId: "tours", fingerprint: tours }
          ])
        }).pipe(Effect.scoped)
      yield* promoteWith("1", "1")
      yield* promoteWith("1", "2")
      const { list } = yield* latestList
      expect(list.sources).toEqual([
        {
          sourceId: "objects",
          fingerprint: "1",
          records: 7,
          files: { text: { size: 3, sha256: given } }
        },
        { sourceId: "tours", fingerprint: "2", files: { text: { size: 3, sha256: sha256OfText("one") } } }
      ])
    }
  )

  inStore(
    "promotes a copy under the id of another controller, with an unchanged list of files",
    function* ({ fs, store }) {
      const first = yield* promoteSources({ objects: { "Objects.json": "one" }, tours: {} })
      for (const versionId of ["20261121T093000Z", "20261121T093000Z-07", "19690101T000000Z"]) {
        const copy = yield* copyAs(versionId)
        const spaced = `${copy.fileList}\n`
        const manifest = { ...copy.manifest, filesSha256: sha256OfText(spaced) }
        expect(yield* promoteCopy({ manifest, fileList: spaced }, { "objects/Objects.json": "one" })).toEqual(
          { changed: true, manifest }
        )
        expect(yield* latestFileList).toBe(spaced)
        expect(yield* store.manifest).toEqual({ status: "ok", manifest })
        const { directory } = Option.getOrThrow(yield* previousOf("tours"))
        expect(yield* fs.exists(directory)).toBe(true)
      }
      const { filesSha256, ...older } = (yield* copyAs("20261121T093001Z")).manifest
      const { fileList } = yield* copyAs("20261121T093001Z")
      const last = yield* promoteCopy({ manifest: older, fileList }, { "objects/Objects.json": "one" })
      expect(last.manifest).toEqual({ ...older, filesSha256 })
      expect(yield* versionIds).toEqual([
        "19690101T000000Z",
        first.manifest.versionId,
        "20261121T093000Z",
        "20261121T093000Z-07",
        "20261121T093001Z"
      ])
      expect((yield* store.versions).filter(({ active }) => active)).toHaveLength(1)
      expect((yield* promoteLater("later")).manifest.versionId > "20261121T093001Z").toBe(true)
    }
  )

  inStore(
    "reuses a file of equal content for a copy, from any version and any path",
    function* ({ fs, store }) {
      yield* promoteSources({ objects: { "old/name": "film" }, tours: { t: "1" } })
      yield* promoteLater("another")
      const staged = yield* store.stageCopy
      const directory = yield* staged.sourceDirectory("rooms")
      const film = { sourceId: "rooms", path: "new/place", size: 4, sha256: sha256OfText("film") }
      const other = { ...film, path: "b", sha256: sha256OfText("none") }
      const cut = { ...film, path: "c", size: 5 }
      expect(yield* staged.reuse([other, film, cut])).toEqual([other, cut])
      expect(yield* fs.readFileString(join(directory, "new", "place"))).toBe("film")
      expect(yield* fs.readDirectory(directory)).toEqual(["new"])
    }
  )

  inStore("activates a version on disk if it is complete", function* ({ fs, store }) {
    const first = yield* promote("one")
    const { directory } = Option.getOrThrow(yield* previousOf("objects"))
    const second = yield* promoteLater("two")
    expect(yield* store.activate(first.manifest.versionId)).toEqual(first.manifest)
    expect(yield* store.manifest).toEqual({ status: "ok", manifest: first.manifest })
    expect(yield* latestContent).toBe("one")
    yield* promoteLater("three")
    expect(yield* store.sweep).toEqual([first.manifest.versionId])

    for (const versionId of [first.manifest.versionId, "..", ""]) {
      const error = yield* Effect.flip(store.activate(versionId))
      expect(error._tag).toBe("vitrine/VersionNotFound")
    }
    const file = join(directory, "..", "..", second.manifest.versionId, "objects", "Objects.json")
    yield* fs.truncate(file, 1)
    const error = yield* Effect.flip(store.activate(second.manifest.versionId))
    expect(error.message).toMatch(/^Cannot activate .*: files are missing or damaged\.$/)
    expect(yield* latestContent).toBe("three")
  })

  inStore(
    "holds the active version, and activates the latest waiting one when the hold ends",
    function* ({ store }) {
      expect(yield* Effect.flip(store.hold({}))).toMatchObject({ _tag: "vitrine/VersionStoreError" })
      const first = yield* promote("one")
      yield* TestClock.setTime(Date.parse("2026-11-22T14:03:00Z"))
      const held = { since: "2026-11-22T14:03:00.000Z", by: "anna@desk" }
      const holding = { ...first.manifest, held }
      expect(yield* store.hold({ by: "anna@desk" })).toEqual(holding)
      expect(yield* store.manifest).toEqual({ status: "ok", manifest: holding })
      expect(yield* promoteLater("one")).toEqual({ changed: false, manifest: holding })

      const [second, third] = yield* Effect.forEach(["two", "three"], promoteLater)
      const waiting = "20261122T140303Z"
      expect(second?.manifest).toEqual({
        ...first.manifest,
        held: { ...held, waiting: "20261122T140302Z" }
      })
      expect(third).toEqual({ changed: true, manifest: { ...first.manifest, held: { ...held, waiting } } })
      expect(yield* promoteLater("three")).toEqual({ ...third, changed: false })
      expect(yield* latestContent).toBe("three")
      expect(yield* store.evict).toEqual(["20261122T140302Z"])
      expect(yield* store.versions).toMatchObject([
        { versionId: first.manifest.versionId, active: true, isWaiting: false },
        { versionId: waiting, active: false, isWaiting: true }
      ])

      const resumed = yield* store.resume({ by: " \u0007ben@desk\n" })
      const at = "2026-11-22T14:03:04.000Z"
      expect(resumed).toMatchObject({ versionId: waiting, released: { at, by: "ben@desk" } })
      expect(resumed).not.toHaveProperty("held")
      expect(yield* store.manifest).toEqual({ status: "ok", manifest: resumed })
      expect(yield* store.resume({})).toEqual(resumed)
      expect((yield* promoteLater("four")).manifest.versionId > waiting).toBe(true)
    }
  )

  inStore("goes back to a complete version on disk, which is held and not swept", function* ({ fs, store }) {
    const first = yield* promote("one")
    const second = yield* promoteLater("two")
    const back = yield* store.hold({ versionId: first.manifest.versionId, by: "first" })
    const waiting = second.manifest.versionId
    expect(back).toEqual({ ...first.manifest, held: { since: expect.any(String), by: "first", waiting } })
    yield* TestClock.adjust("1 minute")
    expect(yield* store.hold({ by: "second" })).toEqual(back)
    expect(yield* store.hold({ by: "second", versionId: back.versionId })).toEqual(back)
    expect((yield* promoteLater("two")).changed).toBe(false)
    yield* Effect.forEach(["three", "four", "five"], promoteLater)
    expect(yield* store.sweep).toHaveLength(2)
    expect(yield* store.manifest).toMatchObject({ manifest: { versionId: back.versionId } })

    const [, fourth = ""] = yield* versionIds
    const other = yield* store.hold({ versionId: fourth })
    expect(other).toMatchObject({ versionId: fourth, held: { waiting: (yield* versionIds).at(-1) } })
    expect(other.held).not.toHaveProperty("by")
    const error = yield* Effect.flip(store.hold({ versionId: "20990101T000000Z" }))
    expect(error).toMatchObject({ _tag: "vitrine/VersionNotFound" })

    const { directory } = Option.getOrThrow(yield* previousOf("objects"))
    yield* fs.truncate(join(directory, "Objects.json"), 1)
    for (const step of [store.resume({}), store.hold({ versionId: other.held?.waiting ?? "" })]) {
      expect((yield* Effect.flip(step)).message).toMatch(/files are missing or damaged\.$/)
    }
    expect(yield* store.manifest).toEqual({ status: "ok", manifest: other })
    const mended = yield* promoteLater("five")
    expect(mended.changed).toBe(true)
    expect(yield* store.resume({})).toMatchObject({ versionId: mended.manifest.held?.waiting })
    expect(yield* latestContent).toBe("five")
  })

  inStore("releases the waiting version, or another one, and keeps holding", function* ({ fs, store }) {
    const first = yield* promote("one")
    expect(yield* store.release({})).toEqual(first.manifest)
    const second = yield* promoteLater("two")
    const refused = yield* Effect.flip(store.release({ versionId: first.manifest.versionId }))
    expect(refused.message).toMatch(/^Cannot release a version of .*: no version is held/)
    const { since } = (yield* store.hold({ by: "anna@desk" })).held ?? {}
    const held = { since, by: "anna@desk" }
    const third = (yield* promoteLater("three")).manifest.held?.waiting

    const released = yield* store.release({ by: "b".repeat(65) })
    expect(released).toMatchObject({
      versionId: third,
      held,
      released: { at: expect.any(String), by: `${"b".repeat(64)}…` }
    })
    expect(released.held).not.toHaveProperty("waiting")
    expect(yield* store.release({})).toEqual(released)
    expect(yield* store.manifest).toEqual({ status: "ok", manifest: released })

    const other = yield* store.release({ versionId: second.manifest.versionId })
    expect(other).toMatchObject({
      versionId: second.manifest.versionId,
      held: { ...held, waiting: third }
    })
    expect(other.released).not.toHaveProperty("by")
    const { directory } = Option.getOrThrow(yield* previousOf("objects"))
    yield* fs.truncate(join(directory, "Objects.json"), 1)
    expect((yield* Effect.flip(store.release({}))).message).toMatch(/files are missing or damaged\.$/)
    expect(yield* Effect.flip(store.release({ versionId: "20990101T000000Z" }))).toMatchObject({
      _tag: "vitrine/VersionNotFound"
    })
    expect(yield* store.manifest).toEqual({ status: "ok", manifest: other })
  })

  inStore("lets copies and activated versions wait while a version is held", function* ({ store }) {
    const first = yield* promote("one")
    yield* promoteLater("two")
    const held = yield* store.hold({})
    const copy = yield* copyAs("20991121T093000Z")
    const { changed, manifest } = yield* promoteCopy(copy, { "objects/Objects.json": "two" })
    expect({ changed, manifest }).toMatchObject({
      changed: true,
      manifest: { versionId: held.versionId, held: { waiting: copy.manifest.versionId } }
    })
    const older = first.manifest.versionId
    expect(yield* store.activate(older)).toMatchObject({
      versionId: held.versionId,
      held: { waiting: older }
    })
    expect(yield* store.resume({})).toEqual({ ...first.manifest, released: { at: expect.any(String) } })
  })

  inStore("returns the sources of a version", function* ({ store }) {
    const { manifest } = yield* promoteSources({ objects: { a: "one", b: "" }, tours: {} })
    expect(yield* store.summarize(manifest.versionId)).toEqual(
      Option.some({
        generatedAt: manifest.generatedAt,
        sources: [
          { sourceId: "objects", files: 2, bytes: 3 },
          { sourceId: "tours", files: 0, bytes: 0 }
        ]
      })
    )
    expect(yield* Effect.flip(store.summarize(".."))).toMatchObject({ _tag: "vitrine/VersionNotFound" })
  })

  inStore("gives each version a later id, even within one second", function* () {
    const ids = yield* Effect.forEach(["one", "two", "one"], (content) =>
      Effect.map(promote(content), ({ manifest }) => manifest.versionId)
    )
    expect(ids).toEqual(["19700101T000000Z", "19700101T000000Z-01", "19700101T000000Z-02"])
  })

  inStore("returns the folder of a source in the active version, if it has one", function* ({ fs }) {
    expect(yield* previousOf("objects")).toEqual(Option.none())
    yield* promote("one")
    yield* promoteLater("two")
    const { directory } = Option.getOrThrow(yield* previousOf("objects"))
    expect(isAbsolute(directory)).toBe(true)
    expect(yield* fs.readFileString(join(directory, "Objects.json"))).toBe("two")
    expect(yield* previousOf("rooms")).toEqual(Option.none())
  })

  inStore("discards staged files that were not promoted", function* ({ fs, store }) {
    const directory = yield* Effect.scoped(
      Effect.flatMap(store.stage, (staged) => staged.sourceDirectory("objects"))
    )
    expect(yield* fs.exists(directory)).toBe(false)
    expect(yield* store.manifest).toEqual({ status: "missing" })
  })

  inStore("sweeps all versions except the newest", function* ({ store }) {
    yield* Effect.forEach(["one", "two", "three", "four"], promoteLater)
    expect(yield* store.sweep).toEqual(["19700101T000001Z", "19700101T000002Z"])
    expect(yield* versionIds).toEqual(["19700101T000003Z", "19700101T000004Z"])
    expect(yield* store.sweep).toEqual([])
  })

  inStore("keeps a version as long as a consumer renews its lease on it", function* ({ store }) {
    const { manifest } = yield* promote("one")
    const heardAt = yield* Clock.currentTimeMillis
    const until = heardAt + 30 * 60_000
    yield* store.acknowledge("screen-1", manifest.versionId)
    yield* Effect.forEach(["two", "three"], promoteLater)

    yield* TestClock.adjust("29 minutes")
    expect(yield* store.sweep).toEqual([])
    expect((yield* store.versions)[0]).toEqual({
      versionId: manifest.versionId,
      active: false,
      isWaiting: false,
      leases: [{ consumerId: "screen-1", versionId: manifest.versionId, until, heardAt, isSilent: false }],
      isRead: false
    })

    yield* TestClock.adjust("2 minutes")
    expect(yield* store.sweep).toEqual([manifest.versionId])
  })

  inStore("keeps a version for two minutes after it was read", function* ({ store }) {
    const { versionId } = (yield* promote("one")).manifest
    yield* Effect.forEach(["two", "three"], promoteLater)
    yield* store.keep(versionId)
    yield* TestClock.adjust("1 minute")
    yield* store.keep(versionId)
    yield* TestClock.adjust("119 seconds")
    expect(yield* store.sweep).toEqual([])
    expect((yield* store.versions).map(({ isRead }) => isRead)).toEqual([true, false, false])
    yield* TestClock.adjust("1 second")
    expect((yield* store.versions).map(({ isRead }) => isRead)).toEqual([false, false, false])
    expect(yield* store.sweep).toEqual([versionId])
    for (const missing of [versionId, "../versions", ""]) {
      expect(yield* Effect.flip(store.keep(missing))).toMatchObject({ _tag: "vitrine/VersionNotFound" })
    }
  })

  inStore(
    "keeps the four versions that have been read for longest, and none of these on a full disk",
    function* ({ store }) {
      yield* Effect.forEach(["1", "2", "3", "4", "5", "6", "7", "8"], promoteLater)
      const read = (yield* versionIds).slice(0, 6)
      yield* store.keep(read[0] ?? "")
      yield* TestClock.adjust("1 minute")
      yield* Effect.forEach(read, (versionId) => store.keep(versionId))
      expect(yield* store.sweep).toEqual([read[1], read[2]])
      expect(yield* store.evict).toHaveLength(5)
      expect(yield* store.versions).toMatchObject([{ active: true }])
    }
  )

  inStore("verifies a version by reading all its files", function* ({ store }) {
    expect(yield* Effect.flip(store.verify())).toMatchObject({ _tag: "vitrine/VersionStoreError" })
    const first = yield* promoteSources({ objects: { "Objects.json": "one", "a/b": "" }, tours: {} })
    const second = yield* promoteLater("another")
    const whole = { files: 2, bytes: 3, problems: [] }
    expect(yield* store.verify(first.manifest.versionId)).toEqual({
      versionId: first.manifest.versionId,
      ...whole
    })
    expect(yield* store.verify()).toEqual({
      versionId: second.manifest.versionId,
      files: 1,
      bytes: 7,
      problems: []
    })
    for (const missing of ["20990101T000000Z", "..", ""]) {
      const error = yield* Effect.flip(store.verify(missing))
      expect(error).toMatchObject({ _tag: "vitrine/VersionNotFound", versionId: missing })
    }
  })

  inStore(
    "forgets the problem of a consumer after two missed renewals, but keeps its version",
    function* ({ store }) {
      const { versionId } = (yield* promote("one")).manifest
      const heardAt = yield* Clock.currentTimeMillis
      yield* store.acknowledge("page", versionId, { problem: "no film", renewMs: 60_000 })
      yield* store.acknowledge("engine", versionId, { problem: "no sound" })
      const leases = Effect.map(store.versions, ([version]) => version?.leases)
      const lease = { versionId, until: heardAt + 30 * 60_000, heardAt }
      const silent = { ...lease, isSilent: true }
      const engine = {
        ...lease,
        consumerId: "engine",
        isSilent: false,
        problem: "no sound",
        problemSince: heardAt
      }

      yield* TestClock.adjust("119 seconds")
      expect(yield* leases).toEqual([
        { ...lease, consumerId: "page", isSilent: false, problem: "no film", problemSince: heardAt },
        engine
      ])
      yield* TestClock.adjust("1 second")
      expect(yield* leases).toEqual([{ ...silent, consumerId: "page" }, engine])
      yield* TestClock.adjust("18 minutes")
      expect(yield* leases).toEqual([{ ...silent, consumerId: "page" }, engine])

      yield* store.acknowledge("page", versionId, { problem: "no film", renewMs: 60_000 })
      const heardAgainAt = yield* Clock.currentTimeMillis
      yield* TestClock.adjust("1 minute")
      yield* store.acknowledge("page", versionId, { problem: "no film", renewMs: 60_000 })
      expect((yield* leases)?.find(({ consumerId }) => consumerId === "page")).toMatchObject({
        heardAt: heardAgainAt + 60_000,
        isSilent: false,
        problemSince: heardAgainAt
      })
    }
  )

  inStore("grants one lease to a consumer, and ends its earlier lease", function* ({ store }) {
    const first = yield* promote("one")
    yield* store.acknowledge("screen-1", first.manifest.versionId)
    const second = yield* promoteLater("two")
    yield* store.acknowledge("screen-1", second.manifest.versionId)
    yield* promoteLater("three")
    expect(yield* store.sweep).toEqual([first.manifest.versionId])
  })

  inStore("never sweeps a version on which a lease was just granted", function* ({ store }) {
    yield* Effect.forEach(["one", "two", "three", "four", "five", "six"], promoteLater)
    const [first = "", second = "", third = ""] = yield* versionIds
    const acknowledge = (consumerId: string, versionId: string) =>
      store.acknowledge(consumerId, versionId).pipe(
        Effect.as([versionId]),
        Effect.catchTag("vitrine/VersionNotFound", () => Effect.succeed([]))
      )
    const granted = yield* Effect.all(
      [
        acknowledge("screen-1", third),
        Effect.as(store.sweep, []),
        acknowledge("screen-2", second),
        acknowledge("screen-3", first)
      ],
      { concurrency: "unbounded" }
    )
    expect(yield* versionIds).toEqual(expect.arrayContaining(granted.flat()))
    expect(yield* versionIds).toContain(third)
  })

  inStore("gives versions that are promoted at the same time different ids", function* ({ store }) {
    const promotions = yield* Effect.forEach(["one", "two", "three", "four"], promote, {
      concurrency: "unbounded"
    })
    const ids = promotions.map(({ manifest }) => manifest.versionId).toSorted()
    expect(yield* versionIds).toEqual(ids)
    expect(new Set(ids).size).toBe(4)
    expect(yield* store.manifest).toMatchObject({ manifest: { versionId: ids.at(-1) } })
  })

  inStore(
    "refuses leases for ids that are not plain file names, and on versions that are not on disk",
    function* ({ store }) {
      const { manifest } = yield* promote("one")
      for (const consumerId of ["", "..", "../manifest", "a/b", "a\\b", "con", "screen 1 ", ".hidden"]) {
        const error = yield* Effect.flip(store.acknowledge(consumerId, manifest.versionId))
        expect(error._tag).toBe("vitrine/InvalidConsumerId")
      }
      for (const versionId of ["20990101T000000Z", "../versions", ""]) {
        const error = yield* Effect.flip(store.acknowledge("screen-1", versionId))
        expect(error._tag).toBe("vitrine/VersionNotFound")
        expect(error.message).toContain(JSON.stringify(versionId))
      }
    }
  )

  inFolder("opens a folder only once at a time", function* ({ directory }) {
    const [one, other] = [storeIn(directory), storeIn(directory)]
    yield* Effect.gen(function* () {
      const store = yield* VersionStore
      const { manifest } = yield* promote("one")
      const error = yield* Effect.flip(Effect.scoped(Layer.build(other)))
      expect(error).toBeInstanceOf(DownloadsInUse)
      expect(yield* store.manifest).toEqual({ status: "ok", manifest })
      expect(yield* latestContent).toBe("one")
      yield* promoteLater("two")
      yield* store.hold({ versionId: manifest.versionId, by: "anna@desk" })
      yield* promoteLater("three")
    }).pipe(Effect.provide(one))
    yield* Effect.gen(function* () {
      const store = yield* VersionStore
      const [first, , third] = yield* versionIds
      expect(yield* store.manifest).toMatchObject({
        manifest: { versionId: first, held: { by: "anna@desk", waiting: third } }
      })
      expect((yield* promoteLater("three")).changed).toBe(false)
      expect(yield* store.resume({})).toMatchObject({ versionId: third })
      expect(yield* latestContent).toBe("three")
      const { manifest } = yield* promoteLater("four")
      expect(yield* store.manifest).toEqual({ status: "ok", manifest })
      expect(yield* store.versions).toHaveLength(4)
    }).pipe(Effect.provide(other))
  })
})
