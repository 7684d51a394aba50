/**
 * Controllers that are killed at random instants while they fetch, roll back, hold and resume, and while a hold with an end ends.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import { HoldOutcome, Manifest } from "../../src/services/VersionStore.ts"
import { expectNoFailure, isLong, makeKills, runs, seed } from "../support/kills.ts"
import { makePromoters, readPromoted } from "../support/promoter.ts"

const decodeManifest = Schema.decode(Schema.parseJson(Manifest))
const decodeOutcome = Schema.decodeUnknownSync(Schema.parseJson(Schema.NullOr(HoldOutcome)))
const decodePromoted = Schema.decodeUnknownSync(Schema.parseJson(Manifest.pick("versionId")))

const milestones = ["started", "undoing", "undone", "content:fetch:done"] as const

const announcedIn = (output: string) =>
  [...output.matchAll(/^content:version:promoted (.*)$/gm)].map(
    ([, payload = ""]) => decodePromoted(payload).versionId
  )

it.live(
  "a controller that is killed while it goes back, holds and resumes keeps a complete version active, and the last command",
  ({ annotate }) =>
    Effect.gen(function* () {
      yield* Effect.promise(() => annotate(`KILL_SEED=${seed}`))
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const downloads = `${folder}/downloads`
      const figures = {
        held: 0,
        ended: 0,
        untilEnd: 0,
        waiting: 0,
        inBetween: 0,
        undone: 0,
        announced: 0,
        editions: 0
      }
      const { killOne } = yield* makeKills(yield* makePromoters(folder, "undo"), milestones, 150)
      let latestEdition = 0
      let before = Option.none<Manifest>()

      const check = Effect.fnUntraced(function* (output: string) {
        expectNoFailure(output, Option.isSome(before))
        const announced = announcedIn(output)
        const [first] = announced
        if (Option.isSome(before) && first !== undefined) {
          expect(first).toBe(before.value.versionId)
        }
        expect(announced.filter((versionId, index) => versionId === announced[index - 1])).toEqual([])

        const versions = yield* fs
          .readDirectory(`${downloads}/versions`)
          .pipe(Effect.orElseSucceed((): ReadonlyArray<string> => []))
        const editions = new Map<string, number>()
        for (const versionId of versions) {
          const { edition } = yield* readPromoted(`${downloads}/versions/${versionId}`)
          editions.set(versionId, edition)
        }
        if (!(yield* fs.exists(`${downloads}/manifest.json`))) {
          return expect(before).toEqual(Option.none())
        }
        const manifest = yield* decodeManifest(yield* fs.readFileString(`${downloads}/manifest.json`))
        const { held, versionId } = manifest
        expect(editions.has(versionId)).toBe(true)
        const edition = editions.get(held?.waiting ?? versionId) ?? 0
        expect(edition).toBeGreaterThanOrEqual(latestEdition)

        const steps = [...output.matchAll(/^(undoing|undone) (.*)$/gm)]
        const [, last, result = ""] = steps.at(-1) ?? []
        const outcome = last === "undone" ? decodeOutcome(result) : null
        if (outcome !== null && (held !== undefined || outcome.held?.until === undefined)) {
          expect(held?.since).toBe(outcome.held?.since)
          expect(held?.until).toBe(outcome.held?.until)
          if (outcome.held !== undefined) expect(versionId).toBe(outcome.versionId)
        }
        figures.untilEnd += held?.until === undefined ? 0 : 1
        figures.held += held === undefined ? 0 : 1
        figures.waiting += held?.waiting === undefined ? 0 : 1
        figures.inBetween += last === "undoing" ? 1 : 0
        figures.undone += steps.filter(([, step, result]) => step === "undone" && result !== "null").length
        figures.announced += announced.length
        figures.editions = edition
        latestEdition = edition
        before = Option.some(manifest)
      })

      // On a busy machine many are killed before they have undone anything.
      for (let run = 0; run < runs || (figures.undone === 0 && run < 5 * runs); run++) {
        yield* check(yield* killOne)
      }
      expect(figures.undone).toBeGreaterThan(0)
      if (runs >= 200) {
        expect(Object.values(figures), JSON.stringify(figures)).not.toContain(0)
      }
      if (isLong) {
        console.info(`${runs} kills, seed ${seed}: ${JSON.stringify(figures)}`)
      }
    }).pipe(Effect.scoped, Effect.withRandom(Random.make(seed)), Effect.provide(NodeContext.layer)),
  isLong ? 3_600_000 : 240_000
)
