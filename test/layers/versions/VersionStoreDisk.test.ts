import { execFileSync } from "node:child_process"
import { createServer } from "node:net"
import * as FileSystem from "@effect/platform/FileSystem"
import { describe, expect } from "@effect/vitest"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import { nextTurn } from "../../../src/internal/nextTurn.ts"
import * as VersionStoreDisk from "../../../src/layers/versions/VersionStoreDisk.ts"
import { type VersionCopy, VersionStore } from "../../../src/services/VersionStore.ts"
import { withCountedFiles } from "../../support/countedFiles.ts"
import { copyAs, promote, promoteCopy, promoteSources, versionIds } from "../../support/promote.ts"
import { inFolder, inStore, storeIn } from "../../support/scenario.ts"

describe("VersionStoreDisk", () => {
  const manifestIn = (directory: string) =>
    Effect.flatMap(VersionStore, ({ manifest }) => manifest).pipe(Effect.provide(storeIn(directory)))

  inFolder("takes options from the environment, and reports wrong ones", function* ({ directory }) {
    const layer = VersionStoreDisk.layerConfig({
      directory: Config.string("DOWNLOADS"),
      keepVersions: Config.integer("KEEP")
    })
    const build = (keep: string) =>
      Effect.map(VersionStore, ({ directory }) => directory).pipe(
        Effect.provide(layer),
        Effect.withConfigProvider(
          ConfigProvider.fromMap(
            new Map([
              ["DOWNLOADS", directory],
              ["KEEP", keep]
            ])
          )
        )
      )
    expect(yield* build("2")).toBe(directory)
    expect((yield* Effect.flip(build("-1"))).message).toContain("keepVersions")
  })

  inFolder(
    "keeps its versions after a restart, and writes only the documented files",
    function* ({ directory, fs }) {
      const { manifest } = yield* promote("one").pipe(Effect.provide(storeIn(directory)))
      expect(yield* manifestIn(directory)).toEqual({ status: "ok", manifest })
      expect((yield* fs.readDirectory(directory, { recursive: true })).toSorted()).toEqual([
        ".reserve",
        ".staging",
        "acks",
        "manifest.json",
        "versions",
        "versions/19700101T000000Z",
        "versions/19700101T000000Z/files.json",
        "versions/19700101T000000Z/objects",
        "versions/19700101T000000Z/objects/Objects.json"
      ])
      expect(JSON.parse(yield* fs.readFileString(`${directory}/manifest.json`))).toEqual(manifest)
    }
  )

  inFolder("writes files that other users can read", function* ({ directory, fs }) {
    yield* promote("one").pipe(Effect.provide(storeIn(directory)))
    const { mode } = yield* fs.stat(`${directory}/versions/19700101T000000Z`)
    expect(mode & 0o055).toBe(0o055)
  })

  inFolder(
    "reads the list of a version once, however often its sources are requested",
    function* ({ directory }) {
      const { manifest } = yield* promote("one").pipe(Effect.provide(storeIn(directory)))
      const counts = { reads: 0, parts: 0, stats: 0 }
      const counted = withCountedFiles(counts, (path) => path.endsWith("/files.json"))
      yield* Effect.gen(function* () {
        const store = yield* VersionStore
        counts.reads = 0
        const summaries = yield* Effect.replicateEffect(store.summarize(manifest.versionId), 10)
        expect(new Set(summaries.map((summary) => JSON.stringify(summary)))).toHaveProperty("size", 1)
        expect(counts.reads).toBe(1)
      }).pipe(Effect.provide(storeIn(directory).pipe(Layer.provide(counted))))
    }
  )

  inFolder(
    "goes on reading the list of a version if its first reader is interrupted",
    function* ({ directory, fs }) {
      const { manifest } = yield* promote("one").pipe(Effect.provide(storeIn(directory)))
      const begun = yield* Deferred.make<void>()
      const held = yield* Deferred.make<void>()
      const slow = Layer.succeed(FileSystem.FileSystem, {
        ...fs,
        readFileString: (path, encoding) =>
          path.endsWith("/files.json")
            ? Deferred.succeed(begun, undefined).pipe(
                Effect.zipRight(Deferred.await(held)),
                Effect.zipRight(fs.readFileString(path, encoding))
              )
            : fs.readFileString(path, encoding)
      })
      yield* Effect.gen(function* () {
        const { summarize } = yield* VersionStore
        const first = yield* Effect.fork(summarize(manifest.versionId))
        yield* Deferred.await(begun)
        const other = yield* Effect.fork(summarize(manifest.versionId))
        yield* Effect.replicateEffect(nextTurn, 1000)
        yield* Fiber.interrupt(first)
        yield* Deferred.succeed(held, undefined)
        expect(Option.isSome(yield* Fiber.join(other))).toBe(true)
      }).pipe(Effect.provide(storeIn(directory).pipe(Layer.provide(slow))))
    }
  )

  inStore("refuses a version with a file that not every system can store", function* ({ store }) {
    const first = yield* promote("one")
    for (const name of [".hidden", "__proto__", "both/a\\b"]) {
      const error = yield* Effect.flip(promoteSources({ objects: { [name]: "" } }))
      expect(error).toMatchObject({ _tag: "vitrine/VersionStoreError" })
      expect(String(error)).toContain(name)
    }
    expect(yield* store.manifest).toEqual({ status: "ok", manifest: first.manifest })
  })

  inStore("refuses a copy that does not match its list and its manifest", function* ({ store }) {
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

  inFolder("empties the staging folder that a crash left behind", function* ({ directory, fs }) {
    yield* fs.makeDirectory(`${directory}/.staging/left/over`, { recursive: true })
    yield* manifestIn(directory)
    expect(yield* fs.readDirectory(`${directory}/.staging`)).toEqual([])
  })

  inStore(
    "reports what is wrong with a manifest, and replaces it at the next promotion",
    function* ({ store, fs }) {
      const { manifest } = yield* promote("one")
      const { versionId } = manifest
      const nonsense: ReadonlyArray<readonly [text: string, says: string]> = [
        ["{ half", "is no manifest"],
        ["", "is no manifest"],
        ['{ "schemaVersion": 1, "versionId": 7 }', "versionId"],
        [JSON.stringify({ ...manifest, schemaVersion: 2 }), "schemaVersion"],
        [JSON.stringify({ ...manifest, versionId: "20990101T000000Z" }), "20990101T000000Z"],
        [JSON.stringify({ ...manifest, versionPath: "/etc" }), versionId],
        [JSON.stringify({ ...manifest, sources: [{ sourceId: "objects", path: "../.." }] }), versionId],
        [JSON.stringify({ ...manifest, sources: [{ sourceId: "other", path: "other" }] }), versionId]
      ]
      for (const [text, says] of nonsense) {
        yield* fs.writeFileString(`${store.directory}/manifest.json`, text)
        expect(yield* store.manifest).toMatchObject({
          status: "invalid",
          message: expect.stringContaining(says)
        })
      }
      const again = yield* promote("one")
      expect(again.changed).toBe(true)
      expect(yield* store.manifest).toEqual({ status: "ok", manifest: again.manifest })
    }
  )

  inFolder(
    "accepts leases that consumers write themselves, and ignores files that are not leases",
    function* ({ directory, fs }) {
      yield* TestClock.setTime(Date.now())
      yield* Effect.gen(function* () {
        const store = yield* VersionStore
        const { manifest } = yield* promote("one")
        yield* fs.writeFileString(
          `${directory}/acks/unity.json`,
          JSON.stringify({ versionId: manifest.versionId })
        )
        yield* fs.writeFileString(`${directory}/acks/broken.json`, "{")
        yield* fs.writeFileString(`${directory}/acks/other.json`, JSON.stringify({ versionId: "../.." }))
        yield* promote("two")
        yield* promote("three")
        expect(yield* store.sweep).toEqual([])
        expect((yield* store.versions)[0]?.leases).toMatchObject([{ consumerId: "unity" }])
      }).pipe(Effect.provide(storeIn(directory)))
    }
  )

  inStore("ignores pipes and folders among the leases without waiting for them", function* ({ store, fs }) {
    yield* promote("one")
    yield* fs.makeDirectory(`${store.directory}/acks/folder.json`)
    yield* fs.symlink("itself.json", `${store.directory}/acks/itself.json`)
    if (process.platform !== "win32") execFileSync("mkfifo", [`${store.directory}/acks/pipe.json`])
    expect((yield* store.versions)[0]?.leases).toEqual([])
  })

  inFolder("leaves nothing behind when the manifest cannot be replaced", function* ({ directory, fs }) {
    yield* fs.makeDirectory(`${directory}/manifest.json/in/the/way`, { recursive: true })
    const error = yield* Effect.flip(promote("one").pipe(Effect.provide(storeIn(directory))))
    expect(error).toMatchObject({ _tag: "vitrine/VersionStoreError", path: `${directory}/manifest.json` })
    expect(yield* fs.readDirectory(`${directory}/versions`)).toEqual([])
    expect(yield* fs.readDirectory(`${directory}/.staging`)).toEqual([])
  })

  inFolder("accepts many leases of one consumer at the same time", function* ({ directory }) {
    yield* Effect.gen(function* () {
      const store = yield* VersionStore
      const { manifest } = yield* promote("one")
      yield* Effect.replicateEffect(store.acknowledge("screen-1", manifest.versionId), 50, {
        concurrency: "unbounded"
      })
      expect((yield* store.versions)[0]?.leases).toMatchObject([{ consumerId: "screen-1" }])
    }).pipe(Effect.provide(storeIn(directory)))
  })

  inFolder("ignores folders that are not versions", function* ({ directory, fs }) {
    yield* fs.makeDirectory(`${directory}/versions/99999999T999999Z-99`, { recursive: true })
    const { manifest } = yield* promote("one").pipe(Effect.provide(storeIn(directory)))
    expect(manifest.versionId).toBe("19700101T000000Z")
  })

  inFolder(
    "refuses a folder that another plugin of this controller uses, and names it",
    function* ({ directory }) {
      const error = yield* Effect.flip(manifestIn(directory)).pipe(Effect.provide(storeIn(directory)))
      expect(error._tag).toBe("vitrine/DownloadsInUse")
      expect(error.message).toBe(
        `The downloads folder ${directory} is in use in this process already: another plugin of this configuration has this "downloadPath". Set "downloadPath" to another folder.`
      )
      expect((yield* manifestIn(directory)).status).toBe("missing")
    }
  )

  inFolder("refuses a folder whose owner cannot be identified", function* ({ directory, fs }) {
    const mute = createServer()
    yield* fs.makeDirectory(`${directory}/.lock`)
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => {
        mute.listen(`${directory}/.lock/lock-mute`, () => resume(Effect.void))
      }),
      () => Effect.sync(() => mute.close())
    ).pipe(
      Effect.zipRight(Effect.flip(manifestIn(directory))),
      Effect.tap((error) => Effect.sync(() => expect(error.message).toContain("it does not answer"))),
      Effect.scoped
    )
  })

  inFolder("opens a folder whose owner was killed", function* ({ directory, fs }) {
    yield* fs.makeDirectory(`${directory}/.lock`)
    yield* fs.writeFileString(`${directory}/.lock/lock-killed`, "")
    expect((yield* manifestIn(directory)).status).toBe("missing")
  })

  inFolder("fails with a clear message if its folder is a file", function* ({ directory, fs }) {
    yield* fs.writeFileString(`${directory}/file`, "")
    const error = yield* Effect.flip(manifestIn(`${directory}/file`))
    expect(error.message).toBe(`Cannot make ${directory}/file: something else of this name stands there.`)
  })
})
