import { rm, writeFile } from "node:fs/promises"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import { withLocalTimes } from "../../../src/internal/readable.ts"
import * as Content from "../../../src/layers/fetching/Content.ts"
import { activeIn } from "../../../src/layers/versions/ManifestFile.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import type { ContentSource } from "../../../src/services/ContentSource.ts"
import type { Identity } from "../../../src/services/ControllerState.ts"
import { VersionStore } from "../../../src/services/VersionStore.ts"
import { contentState, servicesIn } from "../../support/content.ts"
import { withLog } from "../../support/logged.ts"
import { eventLoopTurn, eventually } from "../../support/waiting.ts"

const hours = { zone: "Europe/Berlin", mon: "10:00-18:00" }
const identity: Identity = { node: { id: "hall" }, hours }

/** A source with new content at each fetch. */
const makeSource = (): ContentSource => {
  let count = 0
  return {
    id: "objects",
    fetch: ({ directory }) =>
      Effect.promise(async () => {
        const text = String(++count)
        await writeFile(`${directory}/text.txt`, text)
        return { fingerprint: text, records: 1, bytes: text.length }
      })
  }
}

const dispatch = (type: string, fields: object = {}) =>
  Effect.flatMap(CommandBus, ({ dispatch }) => dispatch({ ...fields, type: `content.${type}` }))

const manifest = Effect.flatMap(VersionStore, ({ manifest }) =>
  Effect.map(manifest, (reading) => Option.getOrThrow(activeIn(reading)))
)

/** Runs a content in this folder during the test. */
const running = <A, E, R>(
  directory: string,
  source: ContentSource,
  test: Effect.Effect<A, E, R>,
  services = servicesIn(directory, "persistent", identity)
) =>
  Effect.gen(function* () {
    const { start } = yield* Content.fromSources({}, [source])
    yield* start
    yield* eventually(Effect.map(contentState, ({ lastFetch }) => lastFetch !== undefined))
    yield* settled
    return yield* test
  }).pipe(Effect.scoped, Effect.provide(services))

/** The services with a store that needs three minutes to verify a version. */
const slowServicesIn = (directory: string) =>
  Layer.effect(
    VersionStore,
    Effect.map(VersionStore, (store) =>
      VersionStore.of({
        ...store,
        verify: (id) => Effect.zipLeft(store.verify(id), Effect.sleep("3 minutes"))
      })
    )
  ).pipe(Layer.provideMerge(servicesIn(directory, "persistent", identity)))

/** Waits until pending work on the disk is done. */
const settled = Effect.replicateEffect(eventLoopTurn, 50)

const passes = (millis: number) => Effect.zipRight(TestClock.adjust(millis), settled)

const scenario = (
  title: string,
  test: (directory: string) => Effect.Effect<void, unknown, FileSystem.FileSystem>
) =>
  it.scoped(title, () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse("2026-11-30T20:00:00.000Z"))
      yield* test(yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped())
    }).pipe(withLog([]), Effect.provide(NodeContext.layer))
  )

const opening = "2026-11-30T20:01:00.000Z"

/** Holds the active version until the opening, while another version waits. */
const heldUntilOpening = Effect.gen(function* () {
  const { versionId } = yield* manifest
  yield* dispatch("hold", { by: "anna@desk", until: "2026-11-30 21:01" })
  yield* passes(1000)
  yield* dispatch("fetch")
  const { held } = yield* manifest
  expect(held).toMatchObject({ by: "anna@desk", until: opening })
  return { before: versionId, waiting: held?.waiting }
})

describe("a hold with an end", () => {
  scenario("ends at its time in the zone of the hours: the waiting version becomes active", (directory) => {
    const log: Array<string> = []
    return running(
      directory,
      makeSource(),
      Effect.gen(function* () {
        const { before, waiting } = yield* heldUntilOpening
        yield* passes(58_000)
        expect(yield* manifest).toMatchObject({ versionId: before, held: { until: opening } })
        yield* passes(1000)
        yield* eventually(Effect.map(manifest, ({ versionId }) => versionId === waiting))
        expect(yield* manifest).toMatchObject({
          versionId: waiting,
          released: { at: opening, until: opening }
        })
        expect(yield* manifest).not.toHaveProperty("held")
        yield* settled
        expect(log).toContain(
          `INFO ${withLocalTimes(`The hold until ${opening} has ended`, Date.parse(opening))}`
        )
      })
    ).pipe(withLog(log))
  })

  scenario("ends when a machine that was off at that time is back, and not before", (directory) =>
    Effect.gen(function* () {
      const source = makeSource()
      const { before, waiting } = yield* running(directory, source, heldUntilOpening)
      yield* TestClock.setTime(Date.parse(opening) - 3000)
      yield* running(
        directory,
        source,
        Effect.map(manifest, ({ versionId }) => expect(versionId).toBe(before))
      )
      yield* TestClock.setTime(Date.parse(opening) + 86_400_000)
      yield* running(
        directory,
        source,
        Effect.gen(function* () {
          yield* eventually(Effect.map(manifest, ({ held }) => held === undefined))
          const { versionId } = yield* manifest
          expect(versionId >= (waiting ?? "")).toBe(true)
        })
      )
    })
  )

  scenario("ends once if the clock jumps past it, and later versions are shown at once", (directory) =>
    running(
      directory,
      makeSource(),
      Effect.gen(function* () {
        const { waiting } = yield* heldUntilOpening
        yield* TestClock.setTime(Date.parse(opening) + 120_000)
        yield* passes(10_000)
        yield* eventually(Effect.map(manifest, ({ versionId }) => versionId === waiting))
        yield* dispatch("hold", {})
        yield* TestClock.setTime(Date.parse(opening) - 60_000)
        yield* passes(120_000)
        expect(yield* manifest).toMatchObject({ versionId: waiting, held: {} })
      })
    )
  )

  scenario("has the end that was set last; a hold without an end keeps it", (directory) =>
    running(
      directory,
      makeSource(),
      Effect.gen(function* () {
        yield* heldUntilOpening
        yield* dispatch("hold", { until: "2026-11-30T22:01" })
        yield* dispatch("hold", {})
        const later = "2026-11-30T21:01:00.000Z"
        expect((yield* manifest).held).toMatchObject({ by: "anna@desk", until: later })
        yield* TestClock.setTime(Date.parse(later) - 1)
        yield* passes(0)
        expect((yield* manifest).held).toMatchObject({ until: later })
        yield* dispatch("resume", {})
        expect(yield* manifest).not.toHaveProperty("held")
      })
    )
  )

  scenario("stays while the waiting version is damaged, which is logged once", (directory) =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const failures = () => log.filter((line) => line.includes("The hold cannot end")).length
      yield* running(
        directory,
        makeSource(),
        Effect.gen(function* () {
          const { before, waiting } = yield* heldUntilOpening
          yield* Effect.promise(() => rm(`${directory}/versions/${waiting}/objects/text.txt`))
          yield* TestClock.setTime(Date.parse(opening))
          yield* passes(10_000)
          yield* eventually(Effect.sync(() => failures() > 0))
          yield* passes(60_000)
          expect(yield* manifest).toMatchObject({ versionId: before, held: { until: opening } })
        })
      ).pipe(withLog(log))
      expect(failures()).toBe(1)
    })
  )

  scenario(
    "ends although checking the waiting version takes longer than the pause between two fetches",
    (directory) =>
      running(
        directory,
        makeSource(),
        Effect.gen(function* () {
          yield* heldUntilOpening
          yield* TestClock.setTime(Date.parse(opening))
          for (let minute = 0; minute < 6; minute++) {
            yield* passes(60_000)
            yield* dispatch("fetch")
          }
          yield* eventually(Effect.map(manifest, ({ held }) => held === undefined))
        }),
        slowServicesIn(directory)
      )
  )

  scenario("may not end in the past, in more than a year, or at no time", (directory) =>
    running(
      directory,
      makeSource(),
      Effect.gen(function* () {
        const given = FastCheck.sample(FastCheck.string(), 20)
        for (const until of ["2026-11-30 20:59", "400 days", "soon", ...given]) {
          expect(String(yield* Effect.flip(dispatch("hold", { until })))).toContain("A hold cannot end at")
        }
        expect(yield* manifest).not.toHaveProperty("held")
      })
    )
  )
})
