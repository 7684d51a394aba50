/**
 * Controllers that are killed at random instants while they fetch tables and attachments and promote them.
 */
import { closeSync, openSync, readSync } from "node:fs"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import { Manifest } from "../../src/services/VersionStore.ts"
import { expectNoFailure, isLong, makeKills, runs, seed } from "../support/kills.ts"
import { filmBytes, makePromoters, readPromoted, stagingOf } from "../support/promoter.ts"
import { sha256 } from "../support/sha256.ts"

const decodeManifest = Schema.decode(Schema.parseJson(Manifest))

/** What a promoter says first of each stretch of a fetch, its start included. */
const milestones = [
  "ready",
  "started",
  "content:source:progress",
  "content:source:done",
  "content:fetch:done"
] as const

/** What a promoter that said this was doing last; `left` are the names in its staging folder. */
const stageOf = (output: string, left: ReadonlyArray<string>) => {
  const start = output.lastIndexOf("content:fetch:start")
  const fetch = output.slice(start)
  return start === -1
    ? "starting"
    : fetch.includes("content:fetch:done")
      ? "sweeping"
      : fetch.split("content:source:done").length > 2
        ? "promoting"
        : left.some((name) => name.includes("attachments"))
          ? "downloading"
          : "listing"
}

/** How many attachments the fetches of a promoter that said this took over, of how many. */
const attachmentsOf = (output: string) =>
  [...output.matchAll(/"total":(\d+),"bytes":\d+,"reused":(\d+)/g)].reduce(
    ({ reused, total }, [, allOfOne, reusedOfOne]) => ({
      total: total + Number(allOfOne),
      reused: reused + Number(reusedOfOne)
    }),
    { total: 0, reused: 0 }
  )

/** The version that the manifest names, read as a whole; nothing where there is no manifest. */
const readActive = Effect.fnUntraced(function* (downloads: string) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* fs.exists(`${downloads}/manifest.json`))) {
    return Option.none()
  }
  const manifest = yield* decodeManifest(yield* fs.readFileString(`${downloads}/manifest.json`))
  const version = yield* readPromoted(`${downloads}/${manifest.versionPath}`)
  return Option.some({ versionId: manifest.versionId, ...version })
})

/** A reader that keeps the files of the active version open, and holds it by a lease of its own writing. */
const openReader = Effect.fnUntraced(function* (
  downloads: string,
  versionId: string,
  files: ReadonlyArray<string>
) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.writeFileString(`${downloads}/acks/reader.json`, JSON.stringify({ versionId }))
  const open = yield* Effect.acquireRelease(
    Effect.sync(() => files.map((file) => ({ file, fd: openSync(file, "r") }))),
    (open) => Effect.sync(() => open.map(({ fd }) => closeSync(fd)))
  )
  const buffer = Buffer.alloc(filmBytes)
  const contents = Effect.sync(() =>
    open.map(({ fd }) => sha256(buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, 0))))
  )
  const before = yield* contents
  return {
    /** Dies where anything has changed for it. */
    check: Effect.gen(function* () {
      expect(yield* contents).toEqual(before)
      expect(yield* Effect.forEach(files, (file) => Effect.map(fs.readFile(file), sha256))).toEqual(before)
    })
  }
})

describe("a controller that is killed", () => {
  it.live(
    "leaves a valid manifest of a complete version, and the next one cleans up and continues",
    ({ annotate }) =>
      Effect.gen(function* () {
        yield* Effect.promise(() => annotate(`KILL_SEED=${seed}`))
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        const downloads = `${folder}/downloads`
        const figures = {
          starting: 0,
          listing: 0,
          downloading: 0,
          promoting: 0,
          sweeping: 0,
          stagingLeft: 0,
          filmsCutOff: 0,
          betweenRenames: 0,
          attachments: 0,
          reused: 0
        }
        const notYetNamed = new Set<string>()
        let last = { versionId: "", edition: 0 }
        const { killOne, next } = yield* makeKills(yield* makePromoters(folder), milestones, 100)

        /** What holds after each kill. */
        const check = Effect.fnUntraced(function* (output: string) {
          const active = yield* readActive(downloads)
          const { edition, versionId } = Option.getOrElse(active, () => last)
          expect(versionId >= last.versionId && edition >= last.edition).toBe(true)
          expect(Option.isSome(active) || last.edition === 0).toBe(true)
          expectNoFailure(output, last.edition > 0)
          expect(stagingOf(output)).toEqual([])

          const versions = yield* fs
            .readDirectory(`${downloads}/versions`)
            .pipe(Effect.orElseSucceed((): ReadonlyArray<string> => []))
          yield* Effect.forEach(versions, (version) => readPromoted(`${downloads}/versions/${version}`))
          const left = yield* fs
            .readDirectory(`${downloads}/.staging`, { recursive: true })
            .pipe(Effect.orElseSucceed((): ReadonlyArray<string> => []))
          const films = yield* Effect.forEach(
            left.filter((name) => name.endsWith(".mp4")),
            (name) => fs.stat(`${downloads}/.staging/${name}`)
          )
          const attachments = attachmentsOf(output)
          figures[stageOf(output, left)]++
          figures.stagingLeft += left.length > 0 ? 1 : 0
          figures.filmsCutOff += films.some(({ size }) => size > 0 && size < filmBytes) ? 1 : 0
          figures.attachments += attachments.total
          figures.reused += attachments.reused
          for (const version of versions.filter((version) => version > versionId)) {
            notYetNamed.add(version)
          }
          figures.betweenRenames = notYetNamed.size
          last = { versionId, edition }
        })

        for (let run = 0; run < runs; ) {
          const active = yield* readActive(downloads)
          yield* Effect.gen(function* () {
            const reader = Option.isSome(active)
              ? yield* openReader(downloads, active.value.versionId, active.value.files)
              : { check: Effect.void }
            const kills = yield* Random.nextIntBetween(1, 6)
            for (let kill = 0; kill < kills && run < runs; kill++, run++) {
              yield* check(yield* killOne)
              yield* reader.check
            }
          }).pipe(Effect.scoped)
        }

        const promoter = yield* next
        yield* promoter.ready
        yield* promoter.go
        expect(yield* promoter.started).toEqual([])
        yield* promoter.said("content:version:promoted", 4)
        yield* promoter.kill
        yield* check(yield* promoter.output)
        expect(figures.reused).toBeGreaterThan(0)
        expect(figures.attachments).toBeGreaterThan(figures.reused)
        if (runs >= 200) {
          const { downloading, filmsCutOff, listing, promoting, starting, sweeping } = figures
          const stages = { starting, listing, downloading, filmsCutOff, promoting, sweeping }
          expect(Object.values(stages), JSON.stringify(stages)).not.toContain(0)
        }
        if (isLong) {
          console.info(`${runs} kills, seed ${seed}, ${last.edition} editions: ${JSON.stringify(figures)}`)
        }
      }).pipe(Effect.scoped, Effect.withRandom(Random.make(seed)), Effect.provide(NodeContext.layer)),
    isLong ? 3_600_000 : 60_000
  )
})
