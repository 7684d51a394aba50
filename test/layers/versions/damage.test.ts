/**
 * Files of versions that somebody changed or removed: which damage is found and repaired.
 */
import { join } from "node:path"
import type { PlatformError } from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import { describe, expect } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import { fileListName } from "../../../src/files/FileList.ts"
import { sha256OfText } from "../../../src/files/sha256.ts"
import { withLog } from "../../support/logged.ts"
import {
  copyAs,
  latestContent,
  previousOf,
  promote,
  promoteCopy,
  promoteLater,
  promoteSources,
  versionIds
} from "../../support/promote.ts"
import { inStore } from "../../support/scenario.ts"

describe("VersionStoreDisk and damaged files", () => {
  for (const [title, damage] of [
    ["is missing", (fs, file) => fs.remove(file)],
    ["is cut", (fs, file) => fs.truncate(file, 1)]
  ] satisfies ReadonlyArray<
    readonly [string, (fs: FileSystem.FileSystem, file: string) => Effect.Effect<void, PlatformError>]
  >) {
    inStore(`promotes the same content as a new version if a file ${title}`, function* ({ fs }) {
      const both = { objects: { "Objects.json": "one", "files/a.png": "two" }, tours: { t: "three" } }
      const first = yield* promoteSources(both)
      expect((yield* promoteSources(both)).changed).toBe(false)
      const { directory, fingerprint } = Option.getOrThrow(yield* previousOf("objects"))
      expect(fingerprint).toEqual(Option.some("one,two"))
      yield* damage(fs, join(directory, "files", "a.png"))

      const damaged = yield* previousOf("objects")
      expect(Option.map(damaged, ({ directory }) => directory)).toEqual(Option.some(directory))
      expect(Option.flatMap(damaged, ({ fingerprint }) => fingerprint)).toEqual(Option.none())
      expect(Option.flatMap(yield* previousOf("tours"), ({ fingerprint }) => fingerprint)).toEqual(
        Option.some("three")
      )
      yield* TestClock.adjust("1 second")
      const log: Array<string> = []
      const again = yield* withLog(log)(promoteSources(both))
      expect(again.changed).toBe(true)
      expect(log).toEqual([expect.stringMatching(/^WARN Files of version .* are missing or damaged/)])
      expect(yield* versionIds).toEqual([first.manifest.versionId, again.manifest.versionId])
      const mended = Option.getOrThrow(yield* previousOf("objects"))
      expect(mended.fingerprint).toEqual(Option.some("one,two"))
      expect(yield* fs.readFileString(join(mended.directory, "files", "a.png"))).toBe("two")
    })
  }

  inStore("repairs a version with a copy of it, and refuses a copy with other content", function* ({ fs }) {
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
    yield* fs.writeFileString(join(directory, "Objects.json"), "bad")
    yield* fs.remove(join(directory, "more"), { recursive: true })
    yield* fs.writeFileString(join(directory, "unlisted"), "")
    yield* promoteLater("another")
    expect(yield* promoteCopy(copy, files)).toEqual({ changed: true, manifest: copy.manifest })
    expect(yield* fs.readFileString(join(directory, "Objects.json"))).toBe("one")
    expect(yield* fs.readFileString(join(directory, "more", "a"))).toBe("two")
    expect(yield* fs.exists(join(directory, "unlisted"))).toBe(false)
  })

  inStore(
    "finds all damaged files, reuses none of them, and promotes the same content as a new version",
    function* ({ fs, store }) {
      const files = { "a/same": "size", cut: "cut off", gone: "gone", whole: "whole" }
      const sources = { objects: files, tours: { t: "tour" } }
      const first = yield* promoteSources(sources)
      const { directory } = Option.getOrThrow(yield* previousOf("objects"))
      yield* fs.writeFileString(join(directory, "a", "same"), "SIZE")
      yield* fs.truncate(join(directory, "cut"), 3)
      yield* fs.remove(join(directory, "gone"))
      yield* fs.makeDirectory(join(directory, "gone"))
      yield* fs.writeFileString(join(directory, "..", "more"), "")
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
    }
  )

  inStore(
    "does not reuse a damaged file from another version that has a link to it",
    function* ({ fs, store }) {
      const objects = { same: "size", whole: "whole" }
      yield* promoteSources({ objects, tours: { t: "1" } })
      yield* TestClock.adjust("1 second")
      yield* promoteSources({ objects, tours: { t: "2" } })
      const { directory } = Option.getOrThrow(yield* previousOf("objects"))
      yield* fs.writeFileString(join(directory, "same"), "SIZE")
      expect((yield* store.verify()).problems).toEqual([{ path: "objects/same", problem: "content" }])
      const staged = yield* store.stageCopy
      const size = { sourceId: "objects", path: "same", size: 4, sha256: sha256OfText("size") }
      const whole = { sourceId: "objects", path: "whole", size: 5, sha256: sha256OfText("whole") }
      expect(yield* staged.reuse([size, whole])).toEqual([size])
    }
  )

  inStore(
    "promotes the same content as a new version if a file has other content of the same size",
    function* ({ fs, store }) {
      yield* promote("one")
      const { directory } = Option.getOrThrow(yield* previousOf("objects"))
      yield* fs.writeFileString(join(directory, "Objects.json"), "bad")
      expect((yield* promoteLater("one")).changed).toBe(false)
      expect((yield* store.verify()).problems).toEqual([{ path: "objects/Objects.json", problem: "content" }])
      expect((yield* promoteLater("one")).changed).toBe(true)
      expect(yield* latestContent).toBe("one")
      expect((yield* store.verify()).problems).toEqual([])
    }
  )

  inStore("forgets the damage of a version that was replaced by a copy", function* ({ fs, store }) {
    yield* promote("one")
    const copy = yield* copyAs("20261121T093000Z")
    yield* promoteCopy(copy, { "objects/Objects.json": "one" })
    const { directory } = Option.getOrThrow(yield* previousOf("objects"))
    yield* fs.writeFileString(join(directory, "Objects.json"), "bad")
    expect((yield* store.verify()).problems).toHaveLength(1)
    yield* promoteCopy(copy, { "objects/Objects.json": "one" })
    expect(yield* store.activate("20261121T093000Z")).toEqual(copy.manifest)
    expect((yield* store.verify()).problems).toEqual([])
  })

  inStore("has a summary of a version again at once when its list is back", function* ({ fs, store }) {
    const { versionId } = (yield* promote("one")).manifest
    const list = join(store.directory, "versions", versionId, fileListName)
    yield* fs.rename(list, `${list}.away`)
    expect(yield* store.summarize(versionId)).toEqual(Option.none())
    yield* fs.rename(`${list}.away`, list)
    expect(Option.isSome(yield* store.summarize(versionId))).toBe(true)
  })
})
