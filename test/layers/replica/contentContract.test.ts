/**
 * The contract of content for clients, whether it is fetched from sources or copied from a hub.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as TestClock from "effect/TestClock"
import * as Content from "../../../src/layers/fetching/Content.ts"
import * as Replica from "../../../src/layers/replica/Replica.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { SourceError } from "../../../src/services/SourceError.ts"
import { withAdvancingClock } from "../../../src/testing/advancingClock.ts"
import { follow, names, readManifest, rowValue, servicesIn } from "../../support/content.ts"
import * as Upstream from "../../support/upstream.ts"
import { hangUp, makeUpstream } from "../../support/upstream.ts"

const overSources = Effect.fnUntraced(function* () {
  const fs = yield* FileSystem.FileSystem
  const text = yield* Ref.make("")
  const isAway = yield* Ref.make(false)
  const content = yield* Content.fromSources({ fetchEvery: "5 seconds" }, [
    {
      id: "objects",
      fetch: ({ directory }) =>
        Effect.gen(function* () {
          if (yield* Ref.get(isAway)) {
            return yield* new SourceError({
              source: "objects",
              cause: new Error("away"),
              isTransient: true
            })
          }
          const fingerprint = yield* Ref.get(text)
          yield* Effect.orDie(fs.writeFileString(`${directory}/text`, fingerprint))
          return { fingerprint, records: 1, bytes: fingerprint.length }
        })
    }
  ])
  return {
    content,
    change: (to: string) => Ref.set(text, to),
    goAway: Ref.set(isAway, true),
    comeBack: Ref.set(isAway, false)
  }
})

const overHub = Effect.fnUntraced(function* () {
  const hub = yield* makeUpstream
  const content = yield* Replica.make({ from: hub.url })
  return {
    content,
    change: (to: string) => Effect.asVoid(hub.promote({ objects: { text: to } })),
    goAway: Effect.sync(() => hub.fault(/./, ...Array.from({ length: 1000 }, () => hangUp))),
    comeBack: Effect.sync(hub.heal)
  }
})

const dispatch = (type: string, fields: Record<string, unknown> = {}) =>
  Effect.flatMap(CommandBus, ({ dispatch }) => withAdvancingClock(dispatch({ ...fields, type }))).pipe(
    Effect.map(({ value }) => Object(value))
  )

describe.each([
  ["sources", overSources],
  ["a hub", overHub]
] as const)("content of %s", (_, make) => {
  /** Runs a test with the content, started or not. */
  const withContent = <A, E, R>(
    mode: "task" | "persistent",
    use: (over: Effect.Effect.Success<ReturnType<typeof make>>) => Effect.Effect<A, E, R>
  ) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      return yield* Effect.flatMap(make(), use).pipe(Effect.provide(servicesIn(directory, mode)))
    }).pipe(Effect.scoped, Effect.provide(Upstream.layer))

  it.effect(
    "announces a new version between the start and the end of a fetch, and an old one only once",
    () =>
      withContent("task", ({ change }) =>
        Effect.gen(function* () {
          yield* change("one")
          const events = yield* follow
          const outcome = yield* dispatch("content.fetch")
          expect(outcome).toMatchObject({ changed: true, records: 1, versionId: "19700101T000000Z" })
          const told = names(yield* events.until("content:fetch:done"))
          expect(told.filter((name) => name !== "content:source:progress")).toEqual([
            "content:fetch:start",
            "content:source:start",
            "content:source:done",
            "content:version:promoted",
            "content:fetch:done"
          ])
          expect(yield* dispatch("content.fetch")).toMatchObject({ changed: false, records: 1 })
          expect(names(yield* events.until("content:fetch:done"))).not.toContain("content:version:promoted")
          expect(yield* readManifest).toMatchObject({
            status: "ok",
            manifest: { versionId: outcome.versionId, sources: [{ sourceId: "objects", path: "objects" }] }
          })
          const { state } = yield* ControllerState
          expect((yield* state).plugins.content).toMatchObject({
            versionId: outcome.versionId,
            lastFetch: { changed: false }
          })
        })
      )
  )

  it.effect("keeps the active version while the origin is unavailable, and continues on its own", () =>
    withContent("persistent", ({ change, comeBack, content, goAway }) =>
      Effect.gen(function* () {
        yield* change("one")
        const events = yield* follow
        yield* content.start
        yield* withAdvancingClock(events.until("content:fetch:done"))
        yield* goAway
        const { value: told } = yield* withAdvancingClock(events.until("content:fetch:error"))
        expect(names(told)).toContain("content:fetch:start")
        expect(yield* rowValue("Active version")).toBe("19700101T000000Z")
        expect(yield* rowValue("Last fetch")).toContain("failed")
        yield* change("two")
        yield* comeBack
        yield* withAdvancingClock(events.until("content:version:promoted"))
        const { value } = yield* withAdvancingClock(events.until("content:fetch:done"))
        expect(value.at(-1)?.payload).toMatchObject({ changed: true })
      })
    )
  )

  it.effect("keeps a version that a consumer shows, and no other old version", () =>
    withContent("task", ({ change }) =>
      Effect.gen(function* () {
        const versions: Array<string> = []
        for (const text of ["one", "two", "three", "four"]) {
          yield* TestClock.adjust("1 second")
          yield* change(text)
          versions.push((yield* dispatch("content.fetch")).versionId)
          if (text === "one") {
            yield* dispatch("content.ack", { consumerId: "screen-1", versionId: versions[0] })
          }
        }
        const { status } = yield* ControllerState
        const shown = JSON.stringify((yield* status).sections)
        const onDisk = versions.map((versionId) => shown.includes(`"label":"${versionId}"`))
        expect(onDisk).toEqual([true, false, true, true])
        expect(shown).toContain('"label":"screen-1"')
      })
    )
  )
})
