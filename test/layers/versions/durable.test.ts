/**
 * A disk that fails to sync, and which files need a sync at all.
 */
import { readFileSync } from "node:fs"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as VersionStoreDisk from "../../../src/layers/versions/VersionStoreDisk.ts"
import { VersionStore } from "../../../src/services/VersionStore.ts"
import { withAdvancingClock } from "../../../src/testing/advancingClock.ts"
import { type Case, runCase } from "../../../src/testing/runCase.ts"
import { inMemory } from "../../support/inMemory.ts"
import { withLog } from "../../support/logged.ts"
import { promote } from "../../support/promote.ts"
import { withSyncs } from "../../support/syncedFiles.ts"

interface Disk {
  readonly directory: string
  readonly log: ReadonlyArray<string>
  /** The synced paths, relative to the directory. */
  readonly synced: Array<string>
  /** From now on, a sync fails with this code, by the path relative to the directory. */
  readonly failing: (code: (path: string) => string | undefined) => void
}

const scenario = (title: string, test: Case<Disk, VersionStore | FileSystem.FileSystem | Path.Path>) =>
  it.effect.skipIf(process.platform === "win32")(title, () =>
    Effect.gen(function* () {
      const path = yield* Path.Path
      const directory = yield* Effect.flatMap(FileSystem.FileSystem, (fs) =>
        fs.makeTempDirectoryScoped(inMemory)
      )
      const log: Array<string> = []
      const synced: Array<string> = []
      let codeOf: (path: string) => string | undefined = () => undefined
      const disk = withSyncs((file) => {
        synced.push(path.relative(directory, file))
        return codeOf(path.relative(directory, file))
      })
      const failing = (code: typeof codeOf) => {
        codeOf = code
      }
      yield* runCase(Effect.succeed({ directory, failing, log, synced }), test).pipe(
        Effect.provide(
          VersionStoreDisk.layer({ directory, keepVersions: 3, ackLease: "30 minutes" }).pipe(
            Layer.provideMerge(disk)
          )
        ),
        withLog(log)
      )
    }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))
  )

describe("a disk that fails to sync", () => {
  for (const code of ["EIO", "ENOSPC"]) {
    for (const [what, isIt] of [
      ["a staged file", (path) => path.endsWith("Objects.json")],
      ["a staged folder", (path) => /^\.staging\/[^/]+\/objects$/.test(path)],
      ["the folder of a staged version", (path) => /^\.staging\/[^/]+$/.test(path)],
      ["the folder of the versions", (path) => path === "versions"],
      ["the folder of the downloads", (path) => path === ""]
    ] satisfies ReadonlyArray<[string, (path: string) => boolean]>) {
      scenario(`${what}, with ${code}, makes the promotion fail, and no file of it stays`, function* (disk) {
        const fs = yield* FileSystem.FileSystem
        const store = yield* VersionStore
        const first = yield* promote("one")
        disk.failing((path) => (isIt(path) ? code : undefined))
        const error = yield* Effect.flip(promote("two"))
        expect(error).toMatchObject({ isTransient: true })
        expect(error.message).toMatch(
          code === "EIO"
            ? /^Cannot write to .*: the disk reports an error\.$/
            : /^Cannot write to .*: the disk is full, or has no inode left for another file\.$/
        )
        expect(yield* store.manifest).toEqual({ status: "ok", manifest: first.manifest })
        expect(yield* fs.readDirectory(`${disk.directory}/versions`)).toEqual([first.manifest.versionId])
        expect(yield* fs.readDirectory(`${disk.directory}/.staging`)).toEqual([])
        disk.failing(() => undefined)
        expect((yield* promote("two")).changed).toBe(true)
      })
    }
  }

  scenario("the manifest, after its replacement, causes a warning, and the version stays", function* (disk) {
    const fs = yield* FileSystem.FileSystem
    const store = yield* VersionStore
    const first = yield* promote("one")
    const file = `${disk.directory}/manifest.json`
    disk.failing((path) =>
      path === "" && !readFileSync(file, "utf8").includes(`"${first.manifest.versionId}"`) ? "EIO" : undefined
    )
    const { changed, manifest } = yield* promote("two")
    expect(changed).toBe(true)
    expect(yield* store.manifest).toEqual({ status: "ok", manifest })
    expect(yield* fs.readDirectory(`${disk.directory}/versions`)).toHaveLength(2)
    expect(disk.log).toEqual([
      `WARN ${file} was replaced, but a loss of power may bring the file before it back: the disk reports an error.`
    ])
  })

  scenario("folders because it does not support syncing them still has versions promoted", function* (disk) {
    for (const code of ["EINVAL", "ENOTSUP", "EOPNOTSUPP"]) {
      disk.failing((path) => (path.endsWith(".json") || path.includes(".staging/") ? undefined : code))
      expect((yield* promote(code)).changed).toBe(true)
    }
    expect(disk.log).toEqual([])
  })
})

describe("a file that another program holds open", () => {
  for (const [title, most, isPromoted] of [
    ["for a moment delays the promotion", 5, true],
    ["for longer makes the promotion fail, and another try may work", 1000, false]
  ] as const) {
    scenario(title, function* (disk) {
      let left: number = most
      disk.failing((path) => (path.endsWith("Objects.json") && left-- > 0 ? "EBUSY" : undefined))
      const { value } = yield* withAdvancingClock(Effect.either(promote("one")))
      expect(Either.isRight(value)).toBe(isPromoted)
      if (Either.isLeft(value)) expect(value.left).toMatchObject({ isTransient: true })
    })
  }
})

describe("files of the previous version", () => {
  /** Promotes two files. The first is linked from the previous version, if there is one. */
  const promoteWithLink = (content: string) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const staged = yield* Effect.flatMap(VersionStore, ({ stage }) => stage)
      const folder = yield* staged.sourceDirectory("objects")
      yield* Option.match(staged.previous("objects"), {
        onNone: () => fs.writeFileString(`${folder}/film.mp4`, "film"),
        onSome: ({ directory }) => fs.link(`${directory}/film.mp4`, `${folder}/film.mp4`)
      })
      yield* fs.writeFileString(`${folder}/Objects.json`, content)
      return yield* staged.promote([{ sourceId: "objects", fingerprint: content }])
    }).pipe(Effect.scoped)

  scenario("are not synced again if they are linked; all others are", function* ({ synced }) {
    yield* promoteWithLink("one")
    expect(synced.filter((path) => path.endsWith("film.mp4"))).toHaveLength(1)
    synced.length = 0
    yield* promoteWithLink("two")
    const names = synced.map((path) => path.replace(/^\.staging\/[^/]+/, "<staged>"))
    expect(names.toSorted()).toEqual(
      [
        "",
        "<staged>/files.json",
        "<staged>/Objects.json",
        "<staged>/objects",
        "<staged>",
        "<staged>",
        "versions",
        ""
      ]
        .map((name) => name.replace("<staged>/Objects", "<staged>/objects/Objects"))
        .toSorted()
    )
  })

  scenario("are synced if they are linked from elsewhere", function* ({ directory, synced }) {
    const fs = yield* FileSystem.FileSystem
    yield* promoteWithLink("one")
    const staged = yield* Effect.flatMap(VersionStore, ({ stage }) => stage)
    const folder = yield* staged.sourceDirectory("objects")
    yield* fs.writeFileString(`${directory}/cache`, "film")
    yield* fs.link(`${directory}/cache`, `${folder}/film.mp4`)
    synced.length = 0
    yield* staged.promote([{ sourceId: "objects", fingerprint: "two" }])
    expect(synced.filter((path) => path.endsWith("film.mp4"))).toHaveLength(1)
  })

  scenario("are promoted though nobody may write to them", function* ({ directory }) {
    const fs = yield* FileSystem.FileSystem
    yield* promoteWithLink("one")
    const staged = yield* Effect.flatMap(VersionStore, ({ stage }) => stage)
    const folder = yield* staged.sourceDirectory("objects")
    const { directory: previous } = Option.getOrThrow(staged.previous("objects"))
    yield* fs.chmod(`${previous}/film.mp4`, 0o444)
    yield* fs.copyFile(`${previous}/film.mp4`, `${folder}/film.mp4`)
    yield* staged.promote([{ sourceId: "objects", fingerprint: "two" }])
    expect(yield* fs.readDirectory(`${directory}/versions`)).toHaveLength(2)
  })
})
