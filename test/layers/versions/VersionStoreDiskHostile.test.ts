/**
 * Damage to a downloads folder, and what happens to its versions.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { nextTurn } from "../../../src/internal/nextTurn.ts"
import { VersionStore } from "../../../src/services/VersionStore.ts"
import { type Case, runCase } from "../../../src/testing/runCase.ts"
import { withLocked } from "../../support/lockedFiles.ts"
import { withLog } from "../../support/logged.ts"
import { promote } from "../../support/promote.ts"
import { inFolder, storeIn } from "../../support/scenario.ts"
import { type Disk, mayMount, smallDisk } from "../../support/tmpfs.ts"

type Environment = FileSystem.FileSystem | Path.Path | Scope.Scope

const manifest = Effect.flatMap(VersionStore, ({ manifest }) => manifest)
const sweep = Effect.flatMap(VersionStore, ({ sweep }) => sweep)
const versionIds = Effect.flatMap(VersionStore, ({ versions }) => versions).pipe(
  Effect.map((versions) => versions.map(({ versionId }) => versionId))
)

/** Promotes each content, a second apart, with a new store each, and returns the last manifest. */
const promoteAll = (directory: string, contents: ReadonlyArray<string>) =>
  Effect.forEach(contents, (content) => Effect.zipRight(TestClock.adjust("1 second"), promote(content))).pipe(
    Effect.map((promotions) => promotions.map(({ manifest }) => manifest)),
    Effect.provide(storeIn(directory))
  )

describe("a manifest that does not name a version on disk", () => {
  const spoilt: ReadonlyArray<
    readonly [title: string, spoil: (directory: string) => Effect.Effect<void, unknown, Environment>]
  > = [
    [
      "is missing",
      (directory) => Effect.flatMap(FileSystem.FileSystem, (fs) => fs.remove(`${directory}/manifest.json`))
    ],
    [
      "is not valid JSON",
      (directory) =>
        Effect.flatMap(FileSystem.FileSystem, (fs) =>
          fs.writeFileString(`${directory}/manifest.json`, "{ half")
        )
    ],
    [
      "names a version that was removed by hand",
      (directory) =>
        Effect.gen(function* () {
          const fs = yield* FileSystem.FileSystem
          const [newest] = yield* promoteAll(directory, ["newest"])
          yield* fs.remove(`${directory}/${newest?.versionPath}`, { recursive: true })
        })
    ]
  ]
  for (const [title, spoil] of spoilt) {
    inFolder(
      `is replaced at the start with the newest version on disk if it ${title}`,
      function* ({ directory }) {
        const log: Array<string> = []
        const [, second] = yield* promoteAll(directory, ["one", "two"])
        yield* spoil(directory)
        expect(yield* manifest.pipe(Effect.provide(storeIn(directory)), withLog(log))).toEqual({
          status: "ok",
          manifest: second
        })
        expect(log).toEqual([
          expect.stringMatching(`^WARN .*manifest\\.json .* active again: ${second?.versionId}$`)
        ])

        expect(yield* manifest.pipe(Effect.provide(storeIn(directory)), withLog(log))).toMatchObject({
          status: "ok"
        })
        expect(log).toHaveLength(1)
        expect((yield* promote("two").pipe(Effect.provide(storeIn(directory)))).changed).toBe(false)
      }
    )
  }

  inFolder("is replaced after the next fetch too, even if the fetch fails", function* ({ directory, fs }) {
    const log: Array<string> = []
    yield* Effect.gen(function* () {
      const { manifest: active } = yield* promote("one")
      yield* fs.writeFileString(`${directory}/manifest.json`, "{ half")
      yield* sweep
      expect(yield* manifest).toEqual({ status: "ok", manifest: active })
    }).pipe(Effect.provide(storeIn(directory)), withLog(log))
    expect(log).toEqual([expect.stringContaining("active again")])
  })

  for (const [title, damage] of spoilt.slice(0, 2)) {
    inFolder(
      `is replaced before versions are removed to make room, if it ${title}`,
      function* ({ directory }) {
        const [, second] = yield* promoteAll(directory, ["one", "two"])
        yield* Effect.gen(function* () {
          yield* damage(directory)
          yield* Effect.flatMap(VersionStore, ({ evict }) => evict)
          expect(yield* versionIds).toEqual([second?.versionId])
          expect(yield* manifest).toEqual({ status: "ok", manifest: second })
        }).pipe(Effect.provide(storeIn(directory)), withLog([]))
      }
    )
  }

  inFolder("is replaced by a manifest with the newest complete version", function* ({ directory, fs }) {
    const [first, second] = yield* promoteAll(directory, ["one", "two"])
    yield* fs.remove(`${directory}/${second?.versionPath}/objects`, { recursive: true })
    yield* fs.makeDirectory(`${directory}/versions/20990101T000000Z/objects`, { recursive: true })
    expect(yield* Effect.provide(manifest, storeIn(directory))).toEqual({ status: "ok", manifest: first })
  })

  inFolder("is kept as a copy if its schema is newer", function* ({ directory, fs }) {
    const [, second] = yield* promoteAll(directory, ["one", "two"])
    const write = (schemaVersion: unknown) =>
      fs.writeFileString(`${directory}/manifest.json`, JSON.stringify({ schemaVersion, more: "to come" }))
    const names = Effect.map(fs.readDirectory(directory), (names) =>
      names.filter((name) => name.startsWith("manifest")).toSorted()
    )
    const log: Array<string> = []
    yield* write(2)
    expect(yield* manifest.pipe(Effect.provide(storeIn(directory)), withLog(log))).toEqual({
      status: "ok",
      manifest: second
    })
    expect(yield* names).toEqual(["manifest.json", "manifest.schema-2.json"])
    expect(JSON.parse(yield* fs.readFileString(`${directory}/manifest.schema-2.json`))).toEqual({
      schemaVersion: 2,
      more: "to come"
    })
    expect(log[0]).toMatch(
      /^WARN .* was written by a later version of Vitrine\. A copy is kept as .*schema-2\.json$/
    )

    yield* Effect.gen(function* () {
      for (const schemaVersion of [3, "../4", 0, 1.5]) {
        yield* write(schemaVersion)
        yield* promote(`after ${schemaVersion}`)
      }
    }).pipe(Effect.provide(storeIn(directory)), withLog(log))
    expect(yield* names).toEqual(["manifest.json", "manifest.schema-2.json", "manifest.schema-3.json"])
  })

  inFolder("is not changed if there is no version", function* ({ directory, fs }) {
    yield* fs.writeFileString(`${directory}/manifest.json`, "nonsense")
    expect(yield* Effect.provide(manifest, storeIn(directory))).toMatchObject({ status: "invalid" })
    expect(yield* fs.readFileString(`${directory}/manifest.json`)).toBe("nonsense")
  })

  inFolder(
    "does not prevent the start of the controller if it cannot be replaced",
    function* ({ directory, fs }) {
      const log: Array<string> = []
      yield* promoteAll(directory, ["one"])
      yield* fs.remove(`${directory}/manifest.json`)
      yield* fs.makeDirectory(`${directory}/manifest.json/in/the/way`, { recursive: true })
      const refused = yield* Effect.flip(manifest).pipe(Effect.provide(storeIn(directory)), withLog(log))
      expect(refused.message).toBe(
        `Cannot read ${directory}/manifest.json: a folder stands where a file is needed.`
      )

      expect(log).toEqual([`WARN ${refused.message}`])
    }
  )
})

describe("a version that is held and removed by hand", () => {
  for (const [title, others, active] of [
    ["the one before it", ["one", "two", "three"], 0],
    ["a newer one, where there is none before it,", ["two", "three"], 1]
  ] satisfies ReadonlyArray<[string, ReadonlyArray<string>, number]>) {
    inFolder(
      `is replaced by ${title} at the start, and the hold goes on with a note`,
      function* ({ directory, fs }) {
        const log: Array<string> = []
        const promoted = yield* promoteAll(directory, others)
        const [lost = "", waiting] = promoted.slice(-2).map(({ versionId }) => versionId)
        yield* Effect.flatMap(VersionStore, ({ hold }) => hold({ versionId: lost, by: "anna" })).pipe(
          Effect.provide(storeIn(directory))
        )
        yield* fs.remove(`${directory}/versions/${lost}`, { recursive: true })
        const held = {
          since: expect.any(String),
          by: "anna",
          lost,
          ...(promoted[active]?.versionId === waiting ? {} : { waiting })
        }
        expect(yield* manifest.pipe(Effect.provide(storeIn(directory)), withLog(log))).toEqual({
          status: "ok",
          manifest: { ...promoted[active], held }
        })
        expect(log).toEqual([
          `WARN manifest.json names a version that is not on disk: ${lost}. It was held. This version is held in its place: ${promoted[active]?.versionId}`
        ])
      }
    )
  }

  inFolder("lets the next version wait until versions are resumed", function* ({ directory, fs }) {
    const [first, second] = yield* promoteAll(directory, ["one", "two"])
    yield* Effect.gen(function* () {
      const store = yield* VersionStore
      yield* store.hold({})
      yield* fs.remove(`${directory}/versions/${second?.versionId}`, { recursive: true })
      yield* TestClock.adjust("1 second")
      const { manifest } = yield* promote("three")
      const waiting = "19700101T000003Z"
      expect(manifest).toEqual({
        ...first,
        held: { since: expect.any(String), lost: second?.versionId, waiting }
      })
      expect(yield* store.resume({})).toMatchObject({ versionId: waiting })
    }).pipe(Effect.provide(storeIn(directory)), withLog([]))
  })
})

describe("a table of the active version", () => {
  inFolder("is replaced once if its version has no list of files", function* ({ directory, fs }) {
    const log: Array<string> = []
    yield* Effect.gen(function* () {
      const { manifest } = yield* promote("one")
      yield* fs.remove(`${directory}/${manifest.versionPath}/files.json`)
      expect((yield* promote("one")).changed).toBe(true)
      expect((yield* promote("one")).changed).toBe(false)
    }).pipe(Effect.provide(storeIn(directory)), withLog(log))
    expect(log).toEqual([])
  })

  inFolder("is fetched again the next time if it cannot be reused", function* ({ directory, fs }) {
    yield* Effect.gen(function* () {
      const promoteBoth = (tours: string, beforePromotion: Effect.Effect<void, unknown> = Effect.void) =>
        Effect.gen(function* () {
          const staged = yield* Effect.flatMap(VersionStore, ({ stage }) => stage)
          for (const sourceId of ["objects", "tours"]) {
            yield* fs.writeFileString(`${yield* staged.sourceDirectory(sourceId)}/text`, "one")
          }
          yield* Effect.orDie(beforePromotion)
          return yield* staged.promote([
            { sourceId: "objects", fingerprint: "one" },
            { sourceId: "tours", fingerprint: tours }
          ])
        }).pipe(Effect.scoped)
      const first = yield* promoteBoth("one")
      const lost = fs.remove(`${directory}/${first.manifest.versionPath}/objects/text`)
      const error = yield* Effect.flip(promoteBoth("two", lost))
      expect(error).toMatchObject({ _tag: "vitrine/VersionStoreError", action: "reuse" })
      expect(yield* manifest).toEqual({ status: "ok", manifest: first.manifest })
      expect(yield* promoteBoth("two")).toMatchObject({ changed: true })
      expect(yield* promoteBoth("two")).toMatchObject({ changed: false })
    }).pipe(Effect.provide(storeIn(directory)), withLog([]))
  })
})

describe("a clock that jumps", () => {
  inFolder("back does not change the order of version ids, after restarts too", function* ({ directory }) {
    const seen: Array<string> = []
    for (const time of [
      "2026-11-21T12:00:00Z",
      "2026-11-21T11:59:59Z",
      "2001-01-01T00:00:00Z",
      "1970-01-01T00:00:00Z"
    ]) {
      yield* TestClock.setTime(Date.parse(time))
      yield* Effect.gen(function* () {
        seen.push((yield* promote(`${time} one`)).manifest.versionId)
        seen.push((yield* promote(`${time} two`)).manifest.versionId)
        yield* sweep
        expect(yield* manifest).toMatchObject({ manifest: { versionId: seen.at(-1) } })
      }).pipe(Effect.provide(storeIn(directory)))
    }
    expect(seen).toEqual(seen.toSorted())
    expect(new Set(seen).size).toBe(seen.length)
  })

  inFolder(
    "back after all versions were removed does not cause an id to be used twice",
    function* ({ directory, fs }) {
      yield* TestClock.setTime(Date.parse("2026-11-21T12:00:00Z"))
      yield* Effect.gen(function* () {
        yield* promote("one")
        yield* fs.remove(`${directory}/versions`, { recursive: true })
        yield* TestClock.setTime(Date.parse("2001-01-01T00:00:00Z"))
        expect((yield* promote("one")).manifest.versionId).toBe("20261121T120000Z-01")
      }).pipe(Effect.provide(storeIn(directory)))
    }
  )

  inFolder("back does not end leases, which then last as long as usual", function* ({ directory }) {
    yield* TestClock.setTime(Date.parse("2026-11-21T12:00:00Z"))
    yield* Effect.gen(function* () {
      const store = yield* VersionStore
      const { manifest } = yield* promote("one")
      yield* store.acknowledge("screen-1", manifest.versionId)
      yield* TestClock.setTime(Date.parse("2001-01-01T00:00:00Z"))
      yield* Effect.forEach(["two", "three", "four"], promote)
      expect(yield* sweep).toHaveLength(1)
      expect(yield* versionIds).toContain(manifest.versionId)
      yield* TestClock.adjust("31 minutes")
      yield* sweep
      expect(yield* versionIds).not.toContain(manifest.versionId)
    }).pipe(Effect.provide(storeIn(directory)))
  })
})

describe("a removed folder, while the controller runs,", () => {
  for (const removed of ["", "/versions", "/acks", "/.staging"]) {
    inFolder(`is made again by the next fetch: ${removed || "downloads"}`, function* ({ directory, fs }) {
      const downloads = `${directory}/downloads`
      yield* Effect.gen(function* () {
        const store = yield* VersionStore
        yield* promote("one")
        yield* fs.remove(`${downloads}${removed}`, { recursive: true })
        yield* Effect.zipRight(store.versions, sweep)
        const { manifest } = yield* promote("two")
        expect(yield* store.manifest).toEqual({ status: "ok", manifest })
        yield* store.acknowledge("screen-1", manifest.versionId)
        yield* sweep
        expect((yield* store.versions).at(-1)).toEqual({
          versionId: manifest.versionId,
          active: true,
          isWaiting: false,
          leases: [expect.objectContaining({ consumerId: "screen-1" })],
          isRead: false
        })
      }).pipe(Effect.provide(storeIn(downloads)))
    })
  }

  inFolder(
    "of a version that is being fetched makes the fetch fail, and the active version stays",
    function* ({ directory, fs }) {
      yield* Effect.gen(function* () {
        const store = yield* VersionStore
        const first = yield* promote("one")
        const failed = yield* Effect.gen(function* () {
          const staged = yield* store.stage
          yield* staged.sourceDirectory("objects")
          yield* fs.remove(`${directory}/.staging`, { recursive: true })
          return yield* Effect.flip(staged.promote([{ sourceId: "objects", fingerprint: "two" }]))
        }).pipe(Effect.scoped)
        expect(failed.message).toMatch(/^Cannot read .*: it is not there\.$/)
        expect(yield* store.manifest).toEqual({ status: "ok", manifest: first.manifest })
        expect((yield* promote("two")).changed).toBe(true)
      }).pipe(Effect.provide(storeIn(directory)))
    }
  )
})

describe("a link in the place of what the controller writes", () => {
  for (const name of [".staging", "acks", ".reserve"]) {
    inFolder(
      `is refused, and nothing behind it is removed or overwritten: ${name}`,
      function* ({ directory, fs }) {
        const [downloads, other] = [`${directory}/downloads`, `${directory}/other`]
        yield* Effect.forEach([downloads, other], (folder) => fs.makeDirectory(folder))
        yield* fs.writeFileString(`${other}/guide.json`, "{}")
        yield* fs.utimes(`${other}/guide.json`, 0, 0)
        yield* fs.symlink(name === ".reserve" ? `${other}/guide.json` : other, `${downloads}/${name}`)
        const log: Array<string> = []
        yield* Effect.gen(function* () {
          const store = yield* VersionStore
          expect(log).toEqual([
            expect.stringMatching(/^WARN Cannot use .* it is a link to .*Remove the link/)
          ])
          yield* Effect.ignore(sweep)
          expect((yield* Effect.flip(Effect.scoped(store.stage))).message).toContain("it is a link to")
        }).pipe(Effect.provide(storeIn(downloads)), withLog(log))
        expect(yield* fs.readDirectory(other)).toEqual(["guide.json"])
        expect(yield* fs.readFileString(`${other}/guide.json`)).toBe("{}")
      }
    )
  }
})

/** Lets test time pass until the effect ends. */
const whileTimePasses = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const running = yield* Effect.fork(effect)
    while (Option.isNone(yield* Fiber.poll(running))) {
      yield* nextTurn
      yield* TestClock.adjust("100 millis")
    }
    return yield* Fiber.join(running)
  })

/** Locked files are retried for some seconds. */
const patient = (title: string, test: Parameters<typeof inFolder>[1]) =>
  inFolder(title, function* (given) {
    yield* whileTimePasses(runCase(Effect.succeed(given), test))
  })

describe("files that another program has open", () => {
  patient("prevent the removal of their version, which is retried", function* ({ directory }) {
    const log: Array<string> = []
    const [first, second] = yield* promoteAll(directory, ["one", "two", "three", "four"])
    let locked: string | undefined = first?.versionId
    yield* Effect.gen(function* () {
      expect(yield* sweep).toEqual([second?.versionId])
      expect(log).toEqual([
        `WARN Cannot remove ${directory}/${first?.versionPath}: another program has it open. It is tried again after the next fetch.`
      ])
      expect(yield* sweep).toEqual([])
      expect(log).toHaveLength(1)
      expect(yield* versionIds).toHaveLength(3)
      locked = undefined
      expect(yield* sweep).toEqual([first?.versionId])
    }).pipe(
      Effect.provide(storeIn(directory)),
      Effect.provide(withLocked((path) => locked !== undefined && path.endsWith(locked))),
      withLog(log)
    )
  })

  patient("are removed by a later sweep if their version is gone already", function* ({ directory, fs }) {
    const log: Array<string> = []
    const [first] = yield* promoteAll(directory, ["one", "two", "three"])
    let locked = true
    yield* Effect.gen(function* () {
      expect(yield* sweep).toEqual([first?.versionId])
      expect(yield* fs.readDirectory(`${directory}/.staging`)).toHaveLength(1)
      expect(log).toEqual([expect.stringContaining("another program has it open")])
      locked = false
      expect(yield* sweep).toEqual([])
      expect(yield* fs.readDirectory(`${directory}/.staging`)).toEqual([])
    }).pipe(
      Effect.provide(storeIn(directory)),
      Effect.provide(withLocked((path) => locked && path.includes("/.staging/"))),
      withLog(log)
    )
  })

  patient(
    "that a crash left behind do not prevent the start of the controller",
    function* ({ directory, fs }) {
      const log: Array<string> = []
      const [active] = yield* promoteAll(directory, ["one"])
      yield* fs.makeDirectory(`${directory}/.staging/left/over`, { recursive: true })
      yield* fs.makeDirectory(`${directory}/.staging/other`, { recursive: true })
      let locked = true
      yield* Effect.gen(function* () {
        expect(yield* manifest).toEqual({ status: "ok", manifest: active })
        expect(log).toEqual([expect.stringContaining(`${directory}/.staging/left`)])
        expect(yield* fs.readDirectory(`${directory}/.staging`)).toEqual(["left"])
        locked = false
        yield* sweep
        expect(yield* fs.readDirectory(`${directory}/.staging`)).toEqual([])
      }).pipe(
        Effect.provide(storeIn(directory)),
        Effect.provide(withLocked((path) => locked && path.endsWith("left"))),
        withLog(log)
      )
    }
  )

  patient("in a version that was not promoted are removed by a later sweep", function* ({ directory, fs }) {
    let locked = true
    yield* Effect.gen(function* () {
      const { stage } = yield* VersionStore
      yield* Effect.scoped(Effect.flatMap(stage, ({ sourceDirectory }) => sourceDirectory("objects")))
      expect(yield* fs.readDirectory(`${directory}/.staging`)).toHaveLength(1)
      locked = false
      yield* sweep
      expect(yield* fs.readDirectory(`${directory}/.staging`)).toEqual([])
    }).pipe(
      Effect.provide(storeIn(directory)),
      Effect.provide(withLocked((path) => locked && path.includes("/.staging/"))),
      withLog([])
    )
  })
})

describe("a file that another program has open for a moment", () => {
  patient(
    "delays the move of the manifest or of the folder of a version until it is closed",
    function* ({ directory }) {
      const tries = new Map<string, number>()
      const isHeld = (path: string) => {
        const before = tries.get(path) ?? 0
        tries.set(path, before + 1)
        return path.includes(".staging") && before < 5
      }
      const promoting = promote("one").pipe(
        Effect.provide(storeIn(directory)),
        Effect.provide(withLocked(isHeld))
      )
      expect(yield* promoting).toMatchObject({ changed: true })
      expect([...tries.values()].filter((times) => times > 5).length).toBeGreaterThan(1)
    }
  )

  patient("is removed by the same sweep once it is closed, without a warning", function* ({ directory, fs }) {
    const log: Array<string> = []
    const tries = new Map<string, number>()
    const isHeld = (path: string) => {
      const before = tries.get(path) ?? 0
      tries.set(path, before + 1)
      return before < 5
    }
    const [oldest] = yield* promoteAll(directory, ["one", "two", "three"])
    yield* sweep.pipe(Effect.provide(storeIn(directory)), Effect.provide(withLocked(isHeld)), withLog(log))
    expect(yield* fs.readDirectory(`${directory}/versions`)).not.toContain(oldest?.versionId)
    expect(yield* fs.readDirectory(`${directory}/.staging`)).toEqual([])
    expect(log).toEqual([])
    expect([...tries.values()].filter((times) => times > 5).length).toBeGreaterThan(1)
  })
})

describe("a disk (skipped if this user may not mount one)", () => {
  const onSmallDisk = (title: string, test: Case<Disk, FileSystem.FileSystem | Path.Path>) =>
    it.effect.skipIf(!mayMount)(title, () => Effect.provide(runCase(smallDisk, test), NodeContext.layer))

  onSmallDisk(
    "that is full makes a promotion fail as a whole, and the next succeeds when there is room",
    function* ({ fill, folder, free }) {
      const fs = yield* FileSystem.FileSystem
      yield* Effect.gen(function* () {
        const store = yield* VersionStore
        const first = yield* promote("one")
        const failures: Array<unknown> = []
        for (const blocksLeft of [0, 1, 2]) {
          yield* fill(blocksLeft)
          failures.push(yield* Effect.flip(promote("two")))
          expect(yield* store.manifest).toEqual({ status: "ok", manifest: first.manifest })
          expect(yield* fs.readDirectory(`${folder}/versions`)).toEqual([first.manifest.versionId])
          expect(yield* fs.readDirectory(`${folder}/.staging`)).toEqual([])
          yield* free
        }
        expect(failures).toEqual([
          expect.objectContaining({ method: "writeFile" }),
          expect.objectContaining({
            path: expect.stringContaining(".staging"),
            detail: "the disk is full, or has no inode left for another file."
          }),
          expect.objectContaining({
            path: `${folder}/manifest.json`,
            detail: "the disk is full, or has no inode left for another file."
          })
        ])
        expect((yield* promote("two")).changed).toBe(true)
      }).pipe(Effect.provide(storeIn(folder)))
    }
  )

  onSmallDisk(
    "that is full when the controller starts still has the active version, and knows which screens show it",
    function* ({ fill, folder }) {
      const [active] = yield* promoteAll(folder, ["one"])
      yield* fill(0)
      const log: Array<string> = []
      yield* Effect.gen(function* () {
        const store = yield* VersionStore
        expect(yield* store.manifest).toEqual({ status: "ok", manifest: active })
        yield* store.acknowledge("screen-1", active?.versionId ?? "")
        yield* store.acknowledge("screen-1", active?.versionId ?? "", { problem: "no film" })
        expect((yield* store.versions)[0]?.leases).toMatchObject([
          { consumerId: "screen-1", isSilent: false, problem: "no film" }
        ])
        expect(log).toEqual([
          `WARN Cannot write ${folder}/acks/screen-1.json: the disk is full, or has no inode left for another file. Screens work, but which versions they show is forgotten at a restart.`
        ])
      }).pipe(Effect.provide(storeIn(folder)), withLog(log))
    }
  )

  for (const when of ["since the controller started", "when the controller starts"]) {
    onSmallDisk(`that is full ${when} allows to go back, hold and resume`, function* ({ fill, folder }) {
      const [first, second] = yield* promoteAll(folder, ["one", "two"])
      const isFullBefore = when.startsWith("when")
      yield* isFullBefore ? fill(0) : Effect.void
      yield* Effect.gen(function* () {
        const store = yield* VersionStore
        yield* isFullBefore ? Effect.void : fill(0)
        for (let times = 0; times < 3; times++) {
          const back = yield* store.hold({ versionId: first?.versionId ?? "" })
          expect(back).toMatchObject({
            versionId: first?.versionId,
            held: { waiting: second?.versionId }
          })
          expect(yield* store.manifest).toEqual({ status: "ok", manifest: back })
          expect(yield* store.resume({})).toEqual({ ...second, released: { at: expect.any(String) } })
          expect(yield* store.hold({})).toMatchObject({ ...second, held: { since: expect.any(String) } })
          expect(yield* store.resume({})).toEqual({ ...second, released: { at: expect.any(String) } })
        }
        expect(yield* versionIds).toHaveLength(2)
        expect(yield* Effect.flip(promote("three"))).toMatchObject({ method: "writeFile" })
      }).pipe(Effect.provide(storeIn(folder)))
    })
  }

  onSmallDisk(
    "that is read-only has the active version, and fetches fail with the reason",
    function* ({ folder, makeReadOnly }) {
      const fs = yield* FileSystem.FileSystem
      const log: Array<string> = []
      const [, , active] = yield* promoteAll(folder, ["one", "two", "three"])
      yield* Effect.flatMap(VersionStore, (store) =>
        store.acknowledge("screen-1", active?.versionId ?? "", { renewMs: 20_000 })
      ).pipe(Effect.provide(storeIn(folder)))
      yield* fs.makeDirectory(`${folder}/.staging/left/over`, { recursive: true })
      yield* makeReadOnly
      yield* Effect.gen(function* () {
        const store = yield* VersionStore
        expect(yield* store.manifest).toEqual({ status: "ok", manifest: active })
        yield* TestClock.adjust("10 minutes")
        yield* store.acknowledge("screen-1", active?.versionId ?? "", { renewMs: 20_000 })
        expect((yield* store.versions).at(-1)?.leases).toMatchObject([{ isSilent: false }])
        expect(log.pop()).toContain("the disk is read-only. Screens work")
        expect((yield* Effect.flip(promote("four"))).message).toMatch(
          /^Cannot write to .*\.staging: the disk is read-only\.$/
        )
        expect(yield* store.sweep).toEqual([])
        expect(log).toHaveLength(2)
        expect(log.every((line) => line.includes("the disk is read-only"))).toBe(true)
        const other = yield* Effect.flip(Effect.provide(manifest, storeIn(folder)))
        expect(other._tag).toBe("vitrine/DownloadsInUse")
      }).pipe(Effect.provide(storeIn(folder)), withLog(log))
    }
  )

  onSmallDisk(
    "that is read-only and has no manifest allows the controller to start, with a warning",
    function* ({ folder, makeReadOnly }) {
      const fs = yield* FileSystem.FileSystem
      const log: Array<string> = []
      yield* promoteAll(folder, ["one"])
      yield* fs.remove(`${folder}/manifest.json`)
      yield* makeReadOnly
      expect(yield* manifest.pipe(Effect.provide(storeIn(folder)), withLog(log))).toEqual({
        status: "missing"
      })
      expect(log).toEqual([`WARN Cannot write ${folder}/manifest.json: the disk is read-only.`])
    }
  )

  /** Without a socket, and with no temporary file elsewhere: everything lies on this disk. */
  const withTemporaryFolder = <A, E, R>(folder: string, effect: Effect.Effect<A, E, R>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const { TMPDIR } = process.env
        process.env.TMPDIR = folder
        return TMPDIR
      }),
      () => effect,
      (before) =>
        Effect.sync(() => {
          if (before === undefined) {
            delete process.env.TMPDIR
          } else {
            process.env.TMPDIR = before
          }
        })
    )

  for (const [title, end, again, problem] of [
    [
      "is read-only, sockets and all",
      ({ makeReadOnly }) => makeReadOnly,
      ({ makeWritable }) => makeWritable,
      "the disk is read-only"
    ],
    [
      "has no room for one more file",
      ({ limitFiles }) => limitFiles(0),
      ({ limitFiles }) => limitFiles(100),
      "the disk is full, or has no inode left for another file"
    ]
  ] satisfies ReadonlyArray<
    [string, (disk: Disk) => Effect.Effect<void>, (disk: Disk) => Effect.Effect<void>, string]
  >) {
    onSmallDisk(`that ${title} when the controller starts has the active version`, function* (disk) {
      const fs = yield* FileSystem.FileSystem
      const log: Array<string> = []
      const { folder } = disk
      const [, active] = yield* promoteAll(folder, ["one", "two"])
      yield* fs.remove(`${folder}/.staging`, { recursive: true })
      yield* end(disk)
      yield* Effect.gen(function* () {
        const store = yield* VersionStore
        expect(log).toEqual([
          `WARN Cannot make ${folder}/.staging: ${problem}. Existing content is shown; nothing can be fetched until this is fixed.`
        ])
        expect(yield* store.manifest).toEqual({ status: "ok", manifest: active })
        expect(yield* versionIds).toHaveLength(2)
        expect(yield* store.sweep).toEqual([])
        expect((yield* Effect.flip(promote("three"))).message).toBe(
          `Cannot make ${folder}/.staging: ${problem}.`
        )
        yield* store.acknowledge("screen-1", active?.versionId ?? "")
        expect((yield* store.versions).at(-1)?.leases).toMatchObject([{ consumerId: "screen-1" }])
        yield* again(disk)
        expect((yield* promote("three")).changed).toBe(true)
        const other = yield* Effect.flip(Effect.provide(manifest, storeIn(folder)))
        expect(other._tag).toBe("vitrine/DownloadsInUse")
      }).pipe(Effect.provide(storeIn(folder)), withLog(log), (scenario) =>
        withTemporaryFolder(folder, scenario)
      )
    })
  }

  onSmallDisk("that another controller has claimed meanwhile is not written to", function* (disk) {
    const fs = yield* FileSystem.FileSystem
    const { folder, makeReadOnly, makeWritable } = disk
    yield* promoteAll(folder, ["one"])
    yield* fs.remove(`${folder}/.staging`, { recursive: true })
    yield* makeReadOnly
    yield* Effect.gen(function* () {
      const late = yield* VersionStore
      yield* makeWritable
      const refused = yield* Effect.flip(Effect.provideService(promote("two"), VersionStore, late)).pipe(
        Effect.provide(storeIn(folder))
      )
      expect(refused.message).toMatch(/^Cannot write to .* is in use in this process already: /)
    }).pipe(Effect.provide(storeIn(folder)), withLog([]), (scenario) => withTemporaryFolder(folder, scenario))
  })

  onSmallDisk(
    "that is full of versions that no screen shows can be emptied of them",
    function* ({ fill, folder, free }) {
      const promoted = yield* promoteAll(folder, ["one", "two", "three"])
      yield* Effect.gen(function* () {
        const { acknowledge, evict } = yield* VersionStore
        yield* acknowledge("screen-1", promoted[1]?.versionId ?? "")
        yield* fill(0)
        expect(yield* evict).toEqual([promoted[0]?.versionId])
        expect(yield* versionIds).toEqual([promoted[1]?.versionId, promoted[2]?.versionId])
        yield* free
      }).pipe(Effect.provide(storeIn(folder)))
    }
  )

  onSmallDisk("that is full has room for a manifest in place of a lost one", function* ({ fill, folder }) {
    const promoted = yield* promoteAll(folder, ["one", "two", "three"])
    const fs = yield* FileSystem.FileSystem
    yield* Effect.gen(function* () {
      const { evict } = yield* VersionStore
      yield* fs.writeFileString(`${folder}/manifest.json`, "")
      yield* fill(0)
      expect(yield* evict).toHaveLength(2)
      expect(yield* manifest).toEqual({ status: "ok", manifest: promoted[2] })
    }).pipe(Effect.provide(storeIn(folder)), withLog([]))
  })

  onSmallDisk(
    "that is full of versions without a manifest keeps the newest version",
    function* ({ fill, folder, free }) {
      const promoted = yield* promoteAll(folder, ["one", "two", "three"])
      const fs = yield* FileSystem.FileSystem
      yield* Effect.gen(function* () {
        const { evict } = yield* VersionStore
        yield* fs.remove(`${folder}/.reserve`)
        yield* fs.writeFileString(`${folder}/manifest.json`, "{ half")
        yield* fill(0)
        expect(yield* evict).toEqual(promoted.slice(0, 2).map(({ versionId }) => versionId))
        expect(yield* versionIds).toEqual([promoted[2]?.versionId])
        yield* free
        yield* sweep
        expect(yield* manifest).toMatchObject({
          status: "ok",
          manifest: { versionId: promoted[2]?.versionId }
        })
      }).pipe(Effect.provide(storeIn(folder)), withLog([]))
    }
  )

  onSmallDisk(
    "for versions, other than the disk of staging, causes a warning, and old versions are removed",
    function* (disk) {
      const fs = yield* FileSystem.FileSystem
      const own = yield* fs.makeTempDirectoryScoped()
      const promoted = yield* promoteAll(own, ["one", "two", "three"])
      yield* fs.copy(`${own}/versions`, `${disk.folder}/versions`)
      yield* fs.remove(`${own}/versions`, { recursive: true })
      yield* fs.symlink(`${disk.folder}/versions`, `${own}/versions`)
      yield* Effect.gen(function* () {
        expect((yield* Effect.flip(promote("four"))).message).toBe(
          `Cannot write to ${own}/versions: nothing can be moved from one disk to another: all of it must be on one disk.`
        )
        expect(yield* sweep).toEqual([promoted[0]?.versionId])
        expect(yield* versionIds).toEqual([promoted[1]?.versionId, promoted[2]?.versionId])
        expect(yield* fs.readDirectory(`${own}/.staging`)).toEqual([])
      }).pipe(Effect.provide(storeIn(own)))
    }
  )
})
