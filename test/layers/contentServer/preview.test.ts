/**
 * What a page reads that looks at a version before its release, beside everything that happens to the versions.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import * as TestContext from "effect/TestContext"
import * as ActiveVersion from "../../../src/layers/fetching/ActiveVersion.ts"
import { registerCommands } from "../../../src/layers/fetching/registerCommands.ts"
import * as VersionStoreDisk from "../../../src/layers/versions/VersionStoreDisk.ts"
import { VersionStore } from "../../../src/services/VersionStore.ts"
import * as server from "../../support/contentServer.ts"
import { inMemory } from "../../support/inMemory.ts"
import { withLog } from "../../support/logged.ts"
import { promote, versionIds } from "../../support/promote.ts"

type Step =
  | { readonly type: "promote" | "hold" | "release" | "resume" | "sweep" }
  | { readonly type: "rollBack" | "acknowledge"; readonly pick: number }
  | { readonly type: "wait"; readonly minutes: number }

const { constant, constantFrom, integer, oneof, record } = FastCheck
const pick = integer({ min: 0, max: 9 })

const step: FastCheck.Arbitrary<Step> = oneof(
  { weight: 4, arbitrary: record({ type: constant("promote" as const) }) },
  { weight: 4, arbitrary: record({ type: constantFrom("hold" as const, "release" as const) }) },
  { weight: 1, arbitrary: record({ type: constant("resume" as const) }) },
  { weight: 3, arbitrary: record({ type: constant("sweep" as const) }) },
  { weight: 3, arbitrary: record({ type: constantFrom("rollBack" as const, "acknowledge" as const), pick }) },
  { weight: 2, arbitrary: record({ type: constant("wait" as const), minutes: integer({ min: 1, max: 40 }) }) }
)

const history = record({
  release: constantFrom("at once" as const, "by hand" as const),
  steps: FastCheck.array(step, { maxLength: 20, size: "max" })
})

type History = typeof history extends FastCheck.Arbitrary<infer A> ? A : never

/** What the public has after each step. `chosen` are the versions that are gone back to or acknowledged, in their order. */
const follow = ({ release, steps }: History, isLookedAt: boolean, chosen: Array<string>) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const directory = yield* fs.makeTempDirectoryScoped(inMemory)
    const versions = VersionStoreDisk.layer({ directory, keepVersions: 2, release })
    const choices = chosen.values()
    let edition = 0

    const look = Effect.gen(function* () {
      const store = yield* VersionStore
      const ids = yield* versionIds
      const reading = yield* store.manifest
      const waiting = reading.status === "ok" ? reading.manifest.held?.waiting : undefined
      const files = [waiting, ids[0]].flatMap((id) => [
        `/versions/${id}/files.json`,
        `/versions/${id}/objects/Objects.json`
      ])
      yield* Effect.forEach(["/manifest.json", ...files], (target) => server.get(target), {
        concurrency: "unbounded"
      })
    })

    const choose = (pick: number) =>
      isLookedAt
        ? Effect.sync(() => choices.next().value ?? "")
        : Effect.map(versionIds, (ids) => {
            const id = ids[pick % ids.length] ?? ""
            chosen.push(id)
            return id
          })

    const run = Effect.fnUntraced(function* (step: Step) {
      const store = yield* VersionStore
      switch (step.type) {
        case "promote":
          return yield* promote(String(++edition))
        case "wait":
          return yield* TestClock.adjust(`${step.minutes} minutes`)
        case "rollBack":
          return yield* store.hold({ versionId: yield* choose(step.pick) })
        case "acknowledge":
          return yield* store.acknowledge(`screen-${step.pick % 3}`, yield* choose(step.pick))
        case "sweep":
          return yield* store.sweep
        default:
          return yield* store[step.type]({})
      }
    })

    return yield* Effect.gen(function* () {
      const store = yield* VersionStore
      yield* registerCommands("content", {
        fetch: Effect.never,
        accept: () => Effect.never,
        check: undefined,
        sample: undefined,
        acknowledged: () => Effect.void,
        report: () => Effect.void
      }).pipe(Effect.provideServiceEffect(ActiveVersion.ActiveVersion, ActiveVersion.silent))
      return yield* Effect.forEach(steps, (step) =>
        Effect.gen(function* () {
          yield* TestClock.adjust("1 second")
          // There may be nothing yet that could be held.
          yield* Effect.ignore(run(step))
          yield* isLookedAt ? look : Effect.void
          const onDisk = yield* store.versions
          const seen = {
            manifest: yield* Effect.option(fs.readFileString(`${directory}/manifest.json`)),
            leases: onDisk.flatMap(({ leases }) => leases),
            screens: yield* store.consumers
          }
          return { seen, ids: onDisk.map(({ versionId }) => versionId) }
        })
      )
    }).pipe(
      Effect.provide(server.layer({ downloadPath: directory }).pipe(Layer.provideMerge(versions))),
      Effect.provide(server.environment)
    )
  }).pipe(
    withLog([]),
    Effect.scoped,
    Effect.provide(server.environment),
    Effect.provide(TestContext.TestContext)
  )

it(
  "reading a version that waits, or an old one, changes nothing that the public sees",
  { timeout: 120_000 },
  () =>
    FastCheck.assert(
      FastCheck.asyncProperty(history, async (history) => {
        const chosen: Array<string> = []
        const alone = await Effect.runPromise(follow(history, false, chosen))
        const lookedAt = await Effect.runPromise(follow(history, true, chosen))
        expect(lookedAt.map(({ seen }) => seen)).toEqual(alone.map(({ seen }) => seen))
        for (const [index, { ids }] of alone.entries()) {
          expect(lookedAt[index]?.ids).toEqual(expect.arrayContaining([...ids]))
        }
      }),
      { numRuns: 5 }
    )
)
