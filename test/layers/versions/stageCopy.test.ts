/**
 * Copies of versions of another controller: every version always has the files of its list.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { type FileList, fileListText } from "../../../src/files/FileList.ts"
import { sha256OfText } from "../../../src/files/sha256.ts"
import * as VersionStoreDisk from "../../../src/layers/versions/VersionStoreDisk.ts"
import type { VersionCopy, VersionStore } from "../../../src/services/VersionStore.ts"
import { eventLoopTurn } from "../../../src/testing/advancingClock.ts"

type Store = VersionStore["Type"]

/** The content of files, by their paths in the version. */
type Files = Readonly<Record<string, string>>

const idOf = (version: number) => new Date(version * 1000).toISOString().replace(/[-:]|\.000/g, "")

const listOf = (versionId: string, files: Files): FileList => {
  const sources = new Map<string, Record<string, { size: number; sha256: string }>>()
  for (const [name, content] of Object.entries(files)) {
    const [sourceId = "", ...path] = name.split("/")
    const listed = sources.get(sourceId) ?? {}
    sources.set(sourceId, listed)
    listed[path.join("/")] = { size: Buffer.byteLength(content), sha256: sha256OfText(content) }
  }
  return {
    schemaVersion: 1,
    versionId,
    generatedAt: "2026-11-21T09:30:00.250Z",
    sources: [...sources].map(([sourceId, files]) => ({ sourceId, fingerprint: "f", files }))
  }
}

const copyOf = (list: FileList): VersionCopy => {
  const fileList = fileListText(list)
  return {
    fileList,
    manifest: {
      schemaVersion: 1,
      versionId: list.versionId,
      versionPath: `versions/${list.versionId}`,
      generatedAt: list.generatedAt,
      sources: list.sources.map(({ sourceId }) => ({ sourceId, path: sourceId })),
      filesSha256: sha256OfText(fileList)
    }
  }
}

/** Copies a version as a replica does. Gives the number of reused files. */
const copy = (store: Store, version: number, files: Files) =>
  Effect.gen(function* () {
    const list = listOf(idOf(version), files)
    const staged = yield* store.stageCopy
    const wanted = list.sources.flatMap(({ files, sourceId }) =>
      Object.entries(files).map(([path, file]) => ({ sourceId, path, ...file }))
    )
    const missing = yield* staged.reuse(wanted)
    for (const { path, sourceId } of missing) {
      const file = join(yield* staged.sourceDirectory(sourceId), path)
      mkdirSync(dirname(file), { recursive: true })
      // As a link is made: never over an existing file.
      writeFileSync(file, files[`${sourceId}/${path}`] ?? "", { flag: "wx" })
    }
    yield* staged.promote(copyOf(list))
    return wanted.length - missing.length
  }).pipe(Effect.scoped)

const filesBelow = (folder: string, below = ""): ReadonlyArray<string> =>
  readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const path = below === "" ? entry.name : `${below}/${entry.name}`
    return entry.isDirectory() ? filesBelow(folder, path) : [path]
  })

const readVersion = (directory: string, versionId: string) => {
  const folder = join(directory, "versions", versionId)
  return Object.fromEntries(
    filesBelow(folder).map((file) => [file, readFileSync(join(folder, file), "utf8")])
  )
}

/** Every version on disk has its files, and no others. */
const expectWhole = (directory: string, known: ReadonlyMap<string, Files>) => {
  for (const versionId of readdirSync(join(directory, "versions"))) {
    const files = known.get(versionId) ?? {}
    const list = fileListText(listOf(versionId, files))
    expect(readVersion(directory, versionId)).toEqual({ ...files, "files.json": list })
  }
}

const makeStoreIn = (directory: string) => VersionStoreDisk.make({ directory, keepVersions: 2 })

const makeStore = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* fs.makeTempDirectoryScoped()
  return { directory, store: yield* makeStoreIn(directory) }
})

/** Copies the versions one after the other, beginning with `first`, with a sweep after each. */
const copyAll = (store: Store, versions: ReadonlyArray<Files>) =>
  Effect.forEach(versions, (files, index) => Effect.zipRight(copy(store, index + 1, files), store.sweep))

const scenario = (
  title: string,
  test: Effect.Effect<void, unknown, FileSystem.FileSystem | Path.Path | Scope.Scope>
) => it.scoped(title, () => Effect.provide(test, NodeContext.layer))

const common = { "one/a": "a", "one/sub/b": "b", "two/c": "c" }
const edition = (number: number): Files => ({ ...common, "one/edition": `edition ${number}` })

describe("a copy", () => {
  scenario(
    "reuses no file that is known to be damaged, even if it was repaired meanwhile",
    Effect.gen(function* () {
      const { directory, store } = yield* makeStore
      yield* copyAll(store, [edition(1), edition(2), edition(3)])
      writeFileSync(join(directory, "versions", idOf(3), "one", "a"), "X")
      yield* store.verify(idOf(3))
      expect(yield* copy(store, 4, edition(4))).toBe(2)
      expect(readVersion(directory, idOf(4))).toMatchObject(edition(4))
      yield* store.sweep
      const file = join(directory, "versions", idOf(4), "one", "sub", "b")
      writeFileSync(`${file}.new`, "b")
      writeFileSync(file, "X")
      renameSync(`${file}.new`, file)
      yield* copy(store, 5, edition(5))
      expect(readVersion(directory, idOf(5))).toMatchObject(edition(5))
      // Verified versions are kept for this long.
      yield* TestClock.adjust("2 minutes")
      expect(yield* store.sweep).toEqual([idOf(3)])
      rmSync(join(directory, "versions", idOf(5), "two", "c"))
      writeFileSync(join(directory, "versions", idOf(5), "two", "c"), "longer")
      expect(yield* copy(store, 6, edition(6))).toBe(2)
      expect(readVersion(directory, idOf(6))).toMatchObject(edition(6))
    })
  )
})

const contents = FastCheck.constantFrom("1", "2", "3", "")
const names = FastCheck.constantFrom(
  "one/a",
  "one/b",
  "one/sub/a",
  "one/sub/deep/b",
  "two/a",
  "two/sub/a",
  "three/a"
)
const files = FastCheck.dictionary(names, contents, { minKeys: 1 })
const pick = FastCheck.nat({ max: 5 })
const step = FastCheck.oneof(
  { weight: 6, arbitrary: FastCheck.record({ type: FastCheck.constant("copy" as const), files }) },
  { weight: 4, arbitrary: FastCheck.record({ type: FastCheck.constant("sweep" as const) }) },
  {
    weight: 2,
    arbitrary: FastCheck.record({
      type: FastCheck.constantFrom("fail" as const, "interrupt" as const),
      files,
      turns: FastCheck.nat({ max: 30 })
    })
  },
  {
    weight: 2,
    arbitrary: FastCheck.record({
      type: FastCheck.constantFrom("lease" as const, "hold" as const, "activate" as const),
      pick
    })
  },
  {
    weight: 1,
    arbitrary: FastCheck.record({ type: FastCheck.constantFrom("resume" as const, "evict" as const) })
  }
)

it.effect.prop(
  "copies, sweeps, leases and failures in any order leave only complete versions",
  { steps: FastCheck.array(step, { minLength: 6, maxLength: 25, size: "max" }) },
  ({ steps }) =>
    Effect.gen(function* () {
      const { directory, store } = yield* makeStore
      const known = new Map<string, Files>()
      const leases = new Map<string, string>()
      const picked = (pick: number) => {
        const versionIds = readdirSync(join(directory, "versions"))
        return versionIds[pick % Math.max(versionIds.length, 1)] ?? ""
      }
      let next = 1
      for (const step of steps) {
        switch (step.type) {
          case "copy":
            known.set(idOf(next), step.files)
            yield* copy(store, next++, step.files)
            expect(readVersion(directory, idOf(next - 1))).toMatchObject(step.files)
            break
          case "fail":
            yield* Effect.flatMap(store.stageCopy, ({ reuse }) =>
              reuse(
                listOf("", step.files).sources.flatMap(({ files, sourceId }) =>
                  Object.entries(files).map(([path, file]) => ({ sourceId, path, ...file }))
                )
              )
            ).pipe(Effect.scoped)
            break
          case "interrupt": {
            known.set(idOf(next), step.files)
            const copying = yield* Effect.fork(copy(store, next++, step.files))
            yield* Effect.repeatN(eventLoopTurn, step.turns)
            yield* Fiber.interrupt(copying)
            break
          }
          case "lease": {
            const versionId = picked(step.pick)
            yield* Effect.ignore(store.acknowledge("screen", versionId))
            if (known.has(versionId)) leases.set("screen", versionId)
            break
          }
          case "hold":
            yield* Effect.ignore(store.hold({ versionId: picked(step.pick) }))
            break
          case "activate":
            yield* Effect.ignore(store.activate(picked(step.pick)))
            break
          case "resume":
            yield* Effect.ignore(store.resume({}))
            break
          case "sweep":
            yield* store.sweep
            break
          case "evict":
            yield* store.evict
        }
        expectWhole(directory, known)
        expect(readdirSync(join(directory, "versions"))).toEqual(expect.arrayContaining([...leases.values()]))
      }
    }).pipe(Effect.scoped, Effect.provide(NodeContext.layer), Effect.orDie),
  { fastCheck: { numRuns: Number(process.env.COPY_RUNS ?? 6) }, timeout: 120_000 }
)

/** The disk of this machine. After `left` changes, nothing changes any more, as if the process were killed. */
const stoppingAfter = (changes: { left: number }) =>
  Layer.effect(
    FileSystem.FileSystem,
    Effect.map(FileSystem.FileSystem, (fs) => {
      const counting =
        <Rest extends ReadonlyArray<unknown>, A, E, R>(change: (...rest: Rest) => Effect.Effect<A, E, R>) =>
        (...rest: Rest) =>
          Effect.suspend(() => (changes.left-- > 0 ? change(...rest) : Effect.never))
      return FileSystem.FileSystem.of({
        ...fs,
        link: counting(fs.link),
        makeDirectory: counting(fs.makeDirectory),
        remove: counting(fs.remove),
        rename: counting(fs.rename),
        writeFileString: counting(fs.writeFileString)
      })
    })
  ).pipe(Layer.provideMerge(NodeContext.layer))

it.live(
  "a process that is killed at any step of a copy or the next sweep leaves only complete versions",
  () =>
    Effect.gen(function* () {
      const known = new Map([1, 2, 3, 4].map((version) => [idOf(version), edition(version)]))
      const fs = yield* FileSystem.FileSystem
      // Removed at the end, when no running operation can still change files.
      const stores = yield* fs.makeTempDirectoryScoped()
      for (let steps = 0, isDone = false; !isDone; steps++) {
        const changes = { left: Number.POSITIVE_INFINITY }
        const scope = yield* Scope.make()
        const directory = yield* fs.makeTempDirectory({ directory: stores })
        const store = yield* makeStoreIn(directory).pipe(
          Effect.provide(stoppingAfter(changes)),
          Scope.extend(scope)
        )
        yield* copyAll(store, [edition(1), edition(2), edition(3)])
        changes.left = steps
        let ended = false
        const copying = yield* Effect.forkDaemon(
          Effect.zipRight(copy(store, 4, edition(4)), store.sweep).pipe(
            Effect.ensuring(
              Effect.sync(() => {
                ended = true
              })
            )
          )
        )
        while (!ended && changes.left >= 0) yield* eventLoopTurn
        yield* Effect.repeatN(eventLoopTurn, 3)
        expectWhole(directory, known)
        expect(readdirSync(join(directory, "versions"))).toContain(idOf(3))
        expect(known.has(JSON.parse(readFileSync(join(directory, "manifest.json"), "utf8")).versionId)).toBe(
          true
        )
        isDone = ended
        copying.unsafeInterruptAsFork(copying.id())
      }
    }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))
)
