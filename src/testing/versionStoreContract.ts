/**
 * What every `VersionStore` does, wherever it keeps its versions.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { sha256OfText } from "../internal/sha256.ts"
import { FileListJson, fileListText } from "../services/FileList.ts"
import {
  DownloadsInUse,
  type Manifest,
  type ManifestReading,
  type VersionCopy,
  VersionStore
} from "../services/VersionStore.ts"

/** A store, which may use the platform of Node. */
type StoreLayer = Layer.Layer<VersionStore, unknown, FileSystem.FileSystem | Path.Path>

/** What a store of versions can and cannot do. */
export interface VersionStoreTraits {
  /**
   * Two stores over one folder, with the options of the other: only one of them can be open at a time, the other is
   * rejected with `DownloadsInUse`. Left out: the versions end with the layer.
   */
  readonly pair?: Effect.Effect<
    readonly [StoreLayer, StoreLayer],
    unknown,
    Scope.Scope | FileSystem.FileSystem | Path.Path
  >
}

/** Stages one source with one file and promotes it. */
export const promote = (content: string) => promoteSources({ objects: { "Objects.json": content } })

/** Stages sources with their files and promotes them; the fingerprint of each is what is in its files. */
const promoteSources = (sources: Readonly<Record<string, Readonly<Record<string, string>>>>) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const staged = yield* Effect.flatMap(VersionStore, ({ stage }) => stage)
    for (const [sourceId, files] of Object.entries(sources)) {
      const directory = yield* staged.sourceDirectory(sourceId)
      for (const [name, content] of Object.entries(files)) {
        const file = path.join(directory, name)
        yield* fs.makeDirectory(path.dirname(file), { recursive: true })
        yield* fs.writeFileString(file, content)
      }
    }
    return yield* staged.promote(
      Object.entries(sources).map(([sourceId, files]) => ({
        sourceId,
        fingerprint: Object.values(files).join()
      }))
    )
  }).pipe(Effect.scoped)

const previousOf = (sourceId: string) =>
  Effect.flatMap(VersionStore, ({ stage }) => stage).pipe(
    Effect.map((staged) => staged.previous(sourceId)),
    Effect.scoped
  )

/** The text of the latest version's `files.json`. */
const latestFileList = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { directory } = Option.getOrThrow(yield* previousOf("objects"))
  return yield* fs.readFileString(path.join(directory, "..", "files.json"))
})

/** The latest version, as a copy under another id. */
const copyAs = (versionId: string) =>
  Effect.gen(function* () {
    const { list } = yield* latestList
    const fileList = fileListText({ ...list, versionId })
    const manifest: Manifest = {
      schemaVersion: 1,
      versionId,
      versionPath: `versions/${versionId}`,
      generatedAt: list.generatedAt,
      sources: list.sources.map(({ sourceId }) => ({ sourceId, path: sourceId })),
      filesSha256: sha256OfText(fileList)
    }
    return { manifest, fileList }
  })

const latestList = Effect.flatMap(latestFileList, (text) =>
  Effect.map(Schema.decode(FileListJson)(text), (list) => ({ list, text }))
)

/** Stages files, by their paths in the version, and promotes them as the copy. */
const promoteCopy = (copy: VersionCopy, files: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const staged = yield* Effect.flatMap(VersionStore, ({ stageCopy }) => stageCopy)
    const root = path.dirname(yield* staged.sourceDirectory("objects"))
    for (const [name, content] of Object.entries(files)) {
      yield* fs.makeDirectory(path.dirname(path.join(root, name)), { recursive: true })
      yield* fs.writeFileString(path.join(root, name), content)
    }
    return yield* staged.promote(copy)
  }).pipe(Effect.scoped)

const promoteLater = (content: string) => Effect.zipRight(TestClock.adjust("1 second"), promote(content))

const versionIds = Effect.flatMap(VersionStore, ({ versions }) => versions).pipe(
  Effect.map((versions) => versions.map(({ versionId }) => versionId))
)

/** The content of the latest version: the active one, if none is held. */
const latestContent = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { previous } = yield* Effect.flatMap(VersionStore, ({ stage }) => stage)
  const { directory } = yield* previous("objects")
  return yield* fs.readFileString(path.join(directory, "Objects.json"))
}).pipe(Effect.scoped)

/**
 * The layer gives an empty store each time it is built, which keeps two versions and honours leases for 30 minutes.
 * The tests run by `TestClock`.
 */
export const versionStoreContract = (name: string, layer: StoreLayer, { pair }: VersionStoreTraits = {}) => {
  const scenario = (
    title: string,
    test: Effect.Effect<void, unknown, VersionStore | FileSystem.FileSystem | Path.Path>
  ) => it.effect(title, () => test.pipe(Effect.provide(layer), Effect.provide(NodeContext.layer)))

  describe(`VersionStore contract: ${name}`, () => {
    scenario(
      "has no manifest before the first promotion",
      Effect.gen(function* () {
        const store = yield* VersionStore
        expect(yield* store.manifest).toEqual({ status: "missing" } satisfies ManifestReading)
        expect(yield* store.versions).toEqual([])
      })
    )

    scenario(
      "promotes what was staged and names it in the manifest",
      Effect.gen(function* () {
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
        const store = yield* VersionStore
        expect(yield* store.manifest).toEqual({ status: "ok", manifest })
        expect(yield* store.versions).toEqual([
          { versionId: "20261121T093000Z", active: true, isWaiting: false, leases: [], isRead: false }
        ])
      })
    )

    scenario(
      "promotes nothing where the active version holds the same",
      Effect.gen(function* () {
        const first = yield* promote("one")
        const again = yield* promoteLater("one")
        expect(again).toEqual({ changed: false, manifest: first.manifest })
        expect(yield* versionIds).toEqual([first.manifest.versionId])
      })
    )

    scenario(
      "takes over what it has of a source that has not changed, and not what was staged of it",
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        const store = yield* VersionStore
        yield* promoteSources({ objects: { "Objects.json": "1", "files/a/b.png": "2" }, tours: { t: "1" } })
        const before = Option.getOrThrow(yield* previousOf("objects"))
        yield* fs.writeFileString(path.join(before.directory, "files", "not-ours"), "")
        const second = yield* Effect.gen(function* () {
          const staged = yield* store.stage
          const objects = yield* staged.sourceDirectory("objects")
          yield* fs.writeFileString(path.join(objects, "half"), "")
          const tours = yield* staged.sourceDirectory("tours")
          yield* fs.writeFileString(path.join(tours, "t"), "2")
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
          ["Objects.json", "files", path.join("files", "a"), path.join("files", "a", "b.png")].toSorted()
        )
        expect(yield* fs.readFileString(path.join(directory, "files", "a", "b.png"))).toBe("2")
      })
    )

    for (const [title, damage] of [
      ["is missing", (fs, file) => fs.remove(file)],
      ["is cut", (fs, file) => fs.truncate(file, 1)]
    ] satisfies ReadonlyArray<
      readonly [string, (fs: FileSystem.FileSystem, file: string) => Effect.Effect<void, PlatformError>]
    >) {
      scenario(
        `gives no fingerprint of a source of which a file ${title}, and promotes the same content anew`,
        Effect.gen(function* () {
          const fs = yield* FileSystem.FileSystem
          const path = yield* Path.Path
          const both = { objects: { "Objects.json": "one", "files/a.png": "two" }, tours: { t: "three" } }
          const first = yield* promoteSources(both)
          expect((yield* promoteSources(both)).changed).toBe(false)
          const { directory, fingerprint } = Option.getOrThrow(yield* previousOf("objects"))
          expect(fingerprint).toEqual(Option.some("one,two"))
          yield* damage(fs, path.join(directory, "files", "a.png"))

          const damaged = yield* previousOf("objects")
          expect(Option.map(damaged, ({ directory }) => directory)).toEqual(Option.some(directory))
          expect(Option.flatMap(damaged, ({ fingerprint }) => fingerprint)).toEqual(Option.none())
          expect(Option.flatMap(yield* previousOf("tours"), ({ fingerprint }) => fingerprint)).toEqual(
            Option.some("three")
          )
          yield* TestClock.adjust("1 second")
          const again = yield* promoteSources(both)
          expect(again.changed).toBe(true)
          expect(yield* versionIds).toEqual([first.manifest.versionId, again.manifest.versionId])
          const mended = Option.getOrThrow(yield* previousOf("objects"))
          expect(mended.fingerprint).toEqual(Option.some("one,two"))
          expect(yield* fs.readFileString(path.join(mended.directory, "files", "a.png"))).toBe("two")
        })
      )
    }

    scenario(
      "lists all files of a version with their sizes and digests, and names the list in the manifest",
      Effect.gen(function* () {
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
      })
    )

    scenario(
      "believes the digests and records that a source gives, and keeps them where that is taken over",
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const store = yield* VersionStore
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
      })
    )

    scenario(
      "refuses a version with a file that not every system can store",
      Effect.gen(function* () {
        const first = yield* promote("one")
        for (const name of [".hidden", "__proto__", "both/a\\b"]) {
          const error = yield* Effect.flip(promoteSources({ objects: { [name]: "" } }))
          expect(error).toMatchObject({ _tag: "vitrine/VersionStoreError" })
          expect(String(error)).toContain(name)
        }
        const store = yield* VersionStore
        expect(yield* store.manifest).toEqual({ status: "ok", manifest: first.manifest })
      })
    )

    scenario(
      "promotes a copy under the id of another controller, with its list as it is",
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const store = yield* VersionStore
        const first = yield* promoteSources({ objects: { "Objects.json": "one" }, tours: {} })
        for (const versionId of ["20261121T093000Z", "20261121T093000Z-07", "19690101T000000Z"]) {
          const copy = yield* copyAs(versionId)
          const spaced = `${copy.fileList}\n`
          const manifest = { ...copy.manifest, filesSha256: sha256OfText(spaced) }
          expect(
            yield* promoteCopy({ manifest, fileList: spaced }, { "objects/Objects.json": "one" })
          ).toEqual({ changed: true, manifest })
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
      })
    )

    scenario(
      "refuses a copy that is not what its list and its manifest say",
      Effect.gen(function* () {
        const store = yield* VersionStore
        const first = yield* promoteSources({ objects: { "Objects.json": "one" } })
        const copy = yield* copyAs("20261121T093000Z")
        const whole = { "objects/Objects.json": "one" }
        const { manifest } = copy
        const wrong: ReadonlyArray<
          readonly [says: string, copy: VersionCopy, files: Readonly<Record<string, string>>]
        > = [
          ["objects/Objects.json is missing", copy, {}],
          ["objects/Objects.json has 4 bytes, not 3", copy, { "objects/Objects.json": "ones" }],
          ["objects/more is not in files.json", copy, { ...whole, "objects/more": "" }],
          ["tours/t is not in files.json", copy, { ...whole, "tours/t": "" }],
          ["more is not in files.json", copy, { ...whole, more: "" }],
          ["files.json is no list of files", { ...copy, fileList: "<!doctype html>" }, whole],
          ["../../x", { ...copy, fileList: copy.fileList.replace("Objects.json", "../../x") }, whole],
          ["filesSha256", { ...copy, fileList: `${copy.fileList} ` }, whole],
          ["generatedAt", { ...copy, manifest: { ...manifest, generatedAt: "" } }, whole],
          ["sources", { ...copy, manifest: { ...manifest, sources: [] } }, whole],
          ["versionPath", { ...copy, manifest: { ...manifest, versionPath: "versions/.." } }, whole],
          ["versionId", { ...copy, manifest: { ...manifest, versionId: "20261121T093001Z" } }, whole]
        ]
        for (const [says, copy, files] of wrong) {
          const error = yield* Effect.flip(promoteCopy(copy, files))
          expect(error).toMatchObject({ _tag: "vitrine/VersionStoreError" })
          expect(String(error)).toContain(says)
        }
        expect(yield* store.manifest).toEqual({ status: "ok", manifest: first.manifest })
        expect(yield* versionIds).toEqual([first.manifest.versionId])
      })
    )

    scenario(
      "repairs a version by a copy of it, and refuses one of another content",
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        const files = { "objects/Objects.json": "one", "objects/more/a": "two" }
        yield* promoteSources({ objects: { "Objects.json": "one", "more/a": "two" } })
        const copy = yield* copyAs("20261121T093000Z")
        yield* promoteCopy(copy, files)
        const other = yield* copyAs("20261121T093000Z").pipe(
          Effect.map(({ fileList, manifest: { filesSha256, ...manifest } }) => ({
            manifest,
            fileList: `${fileList}\n`
          }))
        )
        const error = yield* Effect.flip(promoteCopy(other, files))
        expect(String(error)).toContain("versions never change")

        const { directory } = Option.getOrThrow(yield* previousOf("objects"))
        yield* fs.writeFileString(path.join(directory, "Objects.json"), "bad")
        yield* fs.remove(path.join(directory, "more"), { recursive: true })
        yield* fs.writeFileString(path.join(directory, "unlisted"), "")
        yield* promoteLater("another")
        expect(yield* promoteCopy(copy, files)).toEqual({ changed: true, manifest: copy.manifest })
        expect(yield* fs.readFileString(path.join(directory, "Objects.json"))).toBe("one")
        expect(yield* fs.readFileString(path.join(directory, "more", "a"))).toBe("two")
        expect(yield* fs.exists(path.join(directory, "unlisted"))).toBe(false)
      })
    )

    scenario(
      "takes over a file by its content, from any version and wherever it lies there",
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        const store = yield* VersionStore
        yield* promoteSources({ objects: { "old/name": "film" }, tours: { t: "1" } })
        yield* promoteLater("another")
        const staged = yield* store.stageCopy
        const directory = yield* staged.sourceDirectory("rooms")
        const film = { sourceId: "rooms", path: "new/place", size: 4, sha256: sha256OfText("film") }
        const other = { ...film, path: "b", sha256: sha256OfText("none") }
        const cut = { ...film, path: "c", size: 5 }
        expect(yield* staged.reuse([other, film, cut])).toEqual([other, cut])
        expect(yield* fs.readFileString(path.join(directory, "new", "place"))).toBe("film")
        expect(yield* fs.readDirectory(directory)).toEqual(["new"])
      }).pipe(Effect.scoped)
    )

    scenario(
      "makes a version that is on disk the active one, if it is whole",
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        const store = yield* VersionStore
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
        const file = path.join(directory, "..", "..", second.manifest.versionId, "objects", "Objects.json")
        yield* fs.truncate(file, 1)
        const error = yield* Effect.flip(store.activate(second.manifest.versionId))
        expect(error.message).toMatch(/^Cannot activate .*: files are missing or damaged\.$/)
        expect(yield* latestContent).toBe("three")
      })
    )

    scenario(
      "holds the active version: newer ones wait, and the latest of them is active when the hold ends",
      Effect.gen(function* () {
        const store = yield* VersionStore
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
        expect(yield* store.makeRoom).toEqual(["20261122T140302Z"])
        expect(yield* store.versions).toMatchObject([
          { versionId: first.manifest.versionId, active: true, isWaiting: false },
          { versionId: waiting, active: false, isWaiting: true }
        ])

        const resumed = yield* store.resume
        expect(resumed).toMatchObject({ versionId: waiting })
        expect(resumed).not.toHaveProperty("held")
        expect(yield* store.manifest).toEqual({ status: "ok", manifest: resumed })
        expect(yield* store.resume).toEqual(resumed)
        expect((yield* promoteLater("four")).manifest.versionId > waiting).toBe(true)
      })
    )

    scenario(
      "goes back to a version that is on disk and whole, which is held and not swept",
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        const store = yield* VersionStore
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
        yield* fs.truncate(path.join(directory, "Objects.json"), 1)
        for (const step of [store.resume, store.hold({ versionId: other.held?.waiting ?? "" })]) {
          expect((yield* Effect.flip(step)).message).toMatch(/files are missing or damaged\.$/)
        }
        expect(yield* store.manifest).toEqual({ status: "ok", manifest: other })
        const mended = yield* promoteLater("five")
        expect(mended.changed).toBe(true)
        expect(yield* store.resume).toMatchObject({ versionId: mended.manifest.held?.waiting })
        expect(yield* latestContent).toBe("five")
      })
    )

    scenario(
      "lets copies wait, and what is activated, while a version is held",
      Effect.gen(function* () {
        const store = yield* VersionStore
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
        expect(yield* store.resume).toEqual(first.manifest)
      })
    )

    scenario(
      "shortens and cleans the name of whoever holds",
      Effect.gen(function* () {
        const store = yield* VersionStore
        yield* promote("one")
        const { held } = yield* store.hold({ by: `anna\n\u001b[2J${"x".repeat(100)}` })
        expect(held?.by).toBe(`anna [2J${"x".repeat(56)}…`)
      })
    )

    scenario(
      "says in which folder its versions are",
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { directory } = yield* VersionStore
        const { manifest } = yield* promote("one")
        expect(yield* fs.exists(`${directory}/${manifest.versionPath}/files.json`)).toBe(true)
      })
    )

    scenario(
      "says what a version is made of",
      Effect.gen(function* () {
        const store = yield* VersionStore
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
    )

    scenario(
      "gives each version a new, later id, also within one second",
      Effect.gen(function* () {
        const ids = yield* Effect.forEach(["one", "two", "one"], (content) =>
          Effect.map(promote(content), ({ manifest }) => manifest.versionId)
        )
        expect(ids).toEqual(["19700101T000000Z", "19700101T000000Z-01", "19700101T000000Z-02"])
      })
    )

    scenario(
      "gives a source its folder in the active version, where it has one",
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        expect(yield* previousOf("objects")).toEqual(Option.none())
        yield* promote("one")
        yield* promoteLater("two")
        const { directory } = Option.getOrThrow(yield* previousOf("objects"))
        expect(path.isAbsolute(directory)).toBe(true)
        expect(yield* fs.readFileString(path.join(directory, "Objects.json"))).toBe("two")
        expect(yield* previousOf("rooms")).toEqual(Option.none())
      })
    )

    scenario(
      "discards what was staged and not promoted",
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const store = yield* VersionStore
        const directory = yield* Effect.scoped(
          Effect.flatMap(store.stage, (staged) => staged.sourceDirectory("objects"))
        )
        expect(yield* fs.exists(directory)).toBe(false)
        expect(yield* store.manifest).toEqual({ status: "missing" })
      })
    )

    scenario(
      "sweeps all but the newest versions",
      Effect.gen(function* () {
        yield* Effect.forEach(["one", "two", "three", "four"], promoteLater)
        const store = yield* VersionStore
        expect(yield* store.sweep).toEqual(["19700101T000001Z", "19700101T000002Z"])
        expect(yield* versionIds).toEqual(["19700101T000003Z", "19700101T000004Z"])
        expect(yield* store.sweep).toEqual([])
      })
    )

    scenario(
      "keeps a version as long as a consumer's lease on it is fresh",
      Effect.gen(function* () {
        const store = yield* VersionStore
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
          leases: [{ consumerId: "screen-1", versionId: manifest.versionId, until, heardAt, isSilent: true }],
          isRead: false
        })

        yield* TestClock.adjust("2 minutes")
        expect(yield* store.sweep).toEqual([manifest.versionId])
      })
    )

    scenario(
      "keeps a version for two minutes where somebody reads it",
      Effect.gen(function* () {
        const store = yield* VersionStore
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
    )

    scenario(
      "keeps four versions at most for readers alone, first what is read for longer, and none to make room",
      Effect.gen(function* () {
        const store = yield* VersionStore
        yield* Effect.forEach(["1", "2", "3", "4", "5", "6", "7", "8"], promoteLater)
        const read = (yield* versionIds).slice(0, 6)
        yield* Effect.forEach(read, (versionId) => store.keep(versionId))
        yield* store.keep(read[0] ?? "", true)
        yield* store.keep(read[0] ?? "")
        expect(yield* store.sweep).toEqual([read[1], read[2]])
        expect(yield* store.makeRoom).toHaveLength(5)
        expect(yield* store.versions).toMatchObject([{ active: true }])
      })
    )

    scenario(
      "verifies a version by reading all its files",
      Effect.gen(function* () {
        const store = yield* VersionStore
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
    )

    scenario(
      "finds every damaged file, takes none of them over, and promotes the same content anew",
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        const store = yield* VersionStore
        const files = { "a/same": "size", cut: "cut off", gone: "gone", whole: "whole" }
        const sources = { objects: files, tours: { t: "tour" } }
        const first = yield* promoteSources(sources)
        const { directory } = Option.getOrThrow(yield* previousOf("objects"))
        yield* fs.writeFileString(path.join(directory, "a", "same"), "SIZE")
        yield* fs.truncate(path.join(directory, "cut"), 3)
        yield* fs.remove(path.join(directory, "gone"))
        yield* fs.makeDirectory(path.join(directory, "gone"))
        yield* fs.writeFileString(path.join(directory, "..", "more"), "")
        const { problems, ...verified } = yield* store.verify()
        expect(verified).toEqual({ versionId: first.manifest.versionId, files: 5, bytes: 24 })
        expect(problems.toSorted((one, other) => (one.path < other.path ? -1 : 1))).toEqual([
          { path: "more", problem: "unexpected" },
          { path: "objects/a/same", problem: "content" },
          { path: "objects/cut", problem: "size" },
          { path: "objects/gone", problem: "missing" }
        ])

        expect(Object.keys(Option.getOrThrow(yield* previousOf("objects")).files)).toEqual(["whole"])
        expect(yield* Effect.flip(store.activate(first.manifest.versionId))).toMatchObject({
          detail: "files are missing or damaged."
        })
        const staged = yield* store.stageCopy
        const same = { sourceId: "objects", path: "same", size: 4, sha256: sha256OfText("size") }
        const tour = { ...same, path: "tour", sha256: sha256OfText("tour") }
        expect(yield* staged.reuse([same, tour])).toEqual([same])

        yield* TestClock.adjust("1 second")
        const second = yield* promoteSources(sources)
        expect(second.changed).toBe(true)
        expect(yield* store.verify()).toEqual({
          ...verified,
          versionId: second.manifest.versionId,
          problems: []
        })
        expect((yield* promoteSources(sources)).changed).toBe(false)
      }).pipe(Effect.scoped)
    )

    scenario(
      "takes a damaged file from no other version, where it may be the same one",
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        const store = yield* VersionStore
        const objects = { same: "size", whole: "whole" }
        yield* promoteSources({ objects, tours: { t: "1" } })
        yield* TestClock.adjust("1 second")
        yield* promoteSources({ objects, tours: { t: "2" } })
        const { directory } = Option.getOrThrow(yield* previousOf("objects"))
        yield* fs.writeFileString(path.join(directory, "same"), "SIZE")
        expect((yield* store.verify()).problems).toEqual([{ path: "objects/same", problem: "content" }])
        const staged = yield* store.stageCopy
        const size = { sourceId: "objects", path: "same", size: 4, sha256: sha256OfText("size") }
        const whole = { sourceId: "objects", path: "whole", size: 5, sha256: sha256OfText("whole") }
        expect(yield* staged.reuse([size, whole])).toEqual([size])
      }).pipe(Effect.scoped)
    )

    scenario(
      "promotes the same content anew where a file was found to have other content of the same size",
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        const store = yield* VersionStore
        yield* promote("one")
        const { directory } = Option.getOrThrow(yield* previousOf("objects"))
        yield* fs.writeFileString(path.join(directory, "Objects.json"), "bad")
        expect((yield* promoteLater("one")).changed).toBe(false)
        expect((yield* store.verify()).problems).toEqual([
          { path: "objects/Objects.json", problem: "content" }
        ])
        expect((yield* promoteLater("one")).changed).toBe(true)
        expect(yield* latestContent).toBe("one")
        expect((yield* store.verify()).problems).toEqual([])
      })
    )

    scenario(
      "takes the damage for mended where a copy has replaced the version",
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        const store = yield* VersionStore
        yield* promote("one")
        const copy = yield* copyAs("20261121T093000Z")
        yield* promoteCopy(copy, { "objects/Objects.json": "one" })
        const { directory } = Option.getOrThrow(yield* previousOf("objects"))
        yield* fs.writeFileString(path.join(directory, "Objects.json"), "bad")
        expect((yield* store.verify()).problems).toHaveLength(1)
        yield* promoteCopy(copy, { "objects/Objects.json": "one" })
        expect(yield* store.activate("20261121T093000Z")).toEqual(copy.manifest)
        expect((yield* store.verify()).problems).toEqual([])
      })
    )

    scenario(
      "calls a consumer silent that has missed two renewals, with what it could not show, but keeps its version",
      Effect.gen(function* () {
        const store = yield* VersionStore
        const { versionId } = (yield* promote("one")).manifest
        const heardAt = yield* Clock.currentTimeMillis
        yield* store.acknowledge("page", versionId, "no film", 60_000)
        yield* store.acknowledge("engine", versionId, "no sound")
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

        yield* TestClock.adjust("2 minutes")
        expect(yield* leases).toEqual([
          { ...lease, consumerId: "page", isSilent: false, problem: "no film", problemSince: heardAt },
          engine
        ])
        yield* TestClock.adjust("1 second")
        expect(yield* leases).toEqual([{ ...silent, consumerId: "page" }, engine])
        yield* TestClock.adjust("18 minutes")
        expect(yield* leases).toEqual([
          { ...silent, consumerId: "page" },
          { ...silent, consumerId: "engine" }
        ])

        yield* store.acknowledge("page", versionId, "no film", 60_000)
        const heardAgainAt = yield* Clock.currentTimeMillis
        yield* TestClock.adjust("1 minute")
        yield* store.acknowledge("page", versionId, "no film", 60_000)
        expect((yield* leases)?.find(({ consumerId }) => consumerId === "page")).toMatchObject({
          heardAt: heardAgainAt + 60_000,
          isSilent: false,
          problemSince: heardAgainAt
        })
      })
    )

    scenario(
      "gives a consumer one lease: a later one frees the version before",
      Effect.gen(function* () {
        const store = yield* VersionStore
        const first = yield* promote("one")
        yield* store.acknowledge("screen-1", first.manifest.versionId)
        const second = yield* promoteLater("two")
        yield* store.acknowledge("screen-1", second.manifest.versionId)
        yield* promoteLater("three")
        expect(yield* store.sweep).toEqual([first.manifest.versionId])
      })
    )

    scenario(
      "never sweeps a version on which a lease was just granted",
      Effect.gen(function* () {
        const store = yield* VersionStore
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
    )

    scenario(
      "gives versions that are promoted at the same time ids of their own",
      Effect.gen(function* () {
        const store = yield* VersionStore
        const promotions = yield* Effect.forEach(["one", "two", "three", "four"], promote, {
          concurrency: "unbounded"
        })
        const ids = promotions.map(({ manifest }) => manifest.versionId).toSorted()
        expect(yield* versionIds).toEqual(ids)
        expect(new Set(ids).size).toBe(4)
        expect(yield* store.manifest).toMatchObject({ manifest: { versionId: ids.at(-1) } })
      })
    )

    scenario(
      "refuses leases of impossible consumers and on missing versions",
      Effect.gen(function* () {
        const store = yield* VersionStore
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
      })
    )

    if (pair !== undefined) {
      it.scoped("rejects a second one of the same folder, which can be opened when the first has ended", () =>
        Effect.gen(function* () {
          const [one, other] = yield* pair
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
            expect(yield* store.resume).toMatchObject({ versionId: third })
            expect(yield* latestContent).toBe("three")
            const { manifest } = yield* promoteLater("four")
            expect(yield* store.manifest).toEqual({ status: "ok", manifest })
            expect(yield* store.versions).toHaveLength(4)
          }).pipe(Effect.provide(other))
        }).pipe(Effect.provide(NodeContext.layer))
      )
    }
  })
}
