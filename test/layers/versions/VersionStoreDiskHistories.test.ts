/**
 * Random histories of a downloads folder, against a model of what is to be kept. `npm run kill` for 300 of them;
 * `HISTORIES` says how many.
 */
import { basename } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as TestClock from "effect/TestClock"
import * as TestContext from "effect/TestContext"
import * as VersionStoreDisk from "../../../src/layers/versions/VersionStoreDisk.ts"
import { VersionStore } from "../../../src/services/VersionStore.ts"
import { withAdvancingClock } from "../../../src/testing/advancingClock.ts"
import { inMemory } from "../../support/inMemory.ts"
import { withLocked } from "../../support/lockedFiles.ts"
import { withLog } from "../../support/logged.ts"
import { promote } from "../../support/promote.ts"

const { HISTORIES, npm_lifecycle_event } = process.env
const histories = Number(HISTORIES ?? (npm_lifecycle_event === "kill" ? 300 : 10))

/** Not whole minutes: a sweep retries locked files for some seconds, and those seconds must not end a lease. */
const ackLease = Duration.seconds(30 * 60 + 30)

/** `pick` chooses among the existing versions. */
type Step =
  | { readonly type: "promote" | "promoteSame" | "hold" | "resume" }
  | { readonly type: "sweep"; readonly locked: ReadonlyArray<number> }
  | { readonly type: "wait"; readonly minutes: number }
  | { readonly type: "activate" | "rollBack"; readonly pick: number }
  | { readonly type: "acknowledge" | "writeAck"; readonly consumerId: string; readonly pick: number }
  | { readonly type: "writeNonsense" | "removeAck"; readonly consumerId: string }

const { constant, constantFrom, integer, oneof, record } = FastCheck
const pick = integer({ min: 0, max: 20 })
const consumerId = constantFrom("screen-1", "screen-2", "unity")

const step: FastCheck.Arbitrary<Step> = oneof(
  { weight: 6, arbitrary: record({ type: constant("promote" as const) }) },
  { weight: 1, arbitrary: record({ type: constant("promoteSame" as const) }) },
  {
    weight: 3,
    arbitrary: record({ type: constant("sweep" as const), locked: FastCheck.array(pick, { maxLength: 2 }) })
  },
  {
    weight: 3,
    arbitrary: record({ type: constant("wait" as const), minutes: integer({ min: -40, max: 40 }) })
  },
  { weight: 1, arbitrary: record({ type: constant("activate" as const), pick }) },
  { weight: 2, arbitrary: record({ type: constant("rollBack" as const), pick }) },
  { weight: 2, arbitrary: record({ type: constantFrom("hold" as const, "resume" as const) }) },
  {
    weight: 4,
    arbitrary: record({ type: constantFrom("acknowledge" as const, "writeAck" as const), consumerId, pick })
  },
  {
    weight: 1,
    arbitrary: record({ type: constantFrom("writeNonsense" as const, "removeAck" as const), consumerId })
  }
)

/** From one start of the controller to the next. */
interface Session {
  readonly loseManifest: boolean
  readonly steps: ReadonlyArray<Step>
}

const history: FastCheck.Arbitrary<ReadonlyArray<Session>> = FastCheck.array(
  record({ loseManifest: FastCheck.boolean(), steps: FastCheck.array(step, { maxLength: 12, size: "max" }) }),
  { minLength: 1, maxLength: 3 }
)

interface Ack {
  /** The version that the file last named since the start. */
  readonly versionId: string | undefined
  readonly time: number
  readonly isNonsense: boolean
}

/** What is on disk, and what must stay there. */
interface Model {
  /** Oldest first. */
  versions: ReadonlyArray<{ readonly versionId: string; readonly content: string }>
  active: string | undefined
  isHeld: boolean
  /** Waits while another version is held. */
  waiting: string | undefined
  readonly acks: Map<string, Ack>
}

const isFresh = (ack: Ack | undefined, now: number) =>
  ack?.versionId !== undefined && ack.time >= now - Duration.toMillis(ackLease)

const latestOf = ({ active, waiting }: Model) => waiting ?? active

const retained = ({ acks, active, versions, waiting }: Model, keepVersions: number, now: number) => {
  const fresh = [...acks.values()].filter((ack) => isFresh(ack, now))
  const activeIndex = versions.findIndex(({ versionId }) => versionId === active)
  return versions.filter(
    ({ versionId }, index) =>
      index >= versions.length - keepVersions ||
      (index <= activeIndex && index > activeIndex - keepVersions) ||
      versionId === active ||
      versionId === waiting ||
      fresh.some((lease) => lease.versionId === versionId)
  )
}

/** Takes the steps in a new folder, and compares the disk with the model after each sweep. */
const follow = (sessions: ReadonlyArray<Session>, keepVersions: number) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const directory = yield* fs.makeTempDirectoryScoped(inMemory)
    const store = VersionStoreDisk.layer({ directory, keepVersions, ackLease })
    const model: Model = {
      versions: [],
      active: undefined,
      isHeld: false,
      waiting: undefined,
      acks: new Map()
    }
    const locked = new Set<string>()
    let counter = 0

    const versionAt = (pick: number) => model.versions[pick % Math.max(model.versions.length, 1)]
    const ackFile = (consumerId: string) => `${directory}/acks/${consumerId}.json`
    const writeAck = Effect.fnUntraced(function* (consumerId: string, text: string) {
      const now = yield* Clock.currentTimeMillis
      yield* fs.writeFileString(ackFile(consumerId), text)
      yield* fs.utimes(ackFile(consumerId), new Date(now), new Date(now))
      return now
    })
    const add = Effect.fnUntraced(function* (content: string) {
      const { changed, manifest } = yield* promote(content)
      expect(changed).toBe(true)
      const [versionId = ""] = (yield* fs.readDirectory(`${directory}/versions`)).toSorted().reverse()
      model.versions = [...model.versions, { versionId, content }]
      if (model.isHeld) {
        model.waiting = versionId
      } else {
        model.active = versionId
      }
      expect(manifest.versionId).toBe(model.active)
    })

    const hold = (versionId: string) => {
      const latest = latestOf(model)
      Object.assign(model, {
        isHeld: true,
        active: versionId,
        waiting: latest === versionId ? undefined : latest
      })
    }

    const execute = Effect.fnUntraced(function* (step: Step) {
      const { acknowledge, sweep, versions, ...store } = yield* VersionStore
      // If an ack and a file are within one millisecond, the ack counts; dates of files may be rounded down.
      if (step.type === "writeAck") yield* TestClock.adjust(2)
      const now = yield* Clock.currentTimeMillis
      switch (step.type) {
        case "promote":
          return yield* add(`content ${++counter}`)
        case "promoteSame": {
          const same = model.versions.find(({ versionId }) => versionId === latestOf(model))
          return same && expect(yield* promote(same.content)).toMatchObject({ changed: false })
        }
        case "hold": {
          if (model.active !== undefined) {
            yield* store.hold({})
            hold(model.active)
          }
          return
        }
        case "rollBack": {
          const version = versionAt(step.pick)
          if (version !== undefined) {
            yield* store.hold({ versionId: version.versionId })
            hold(version.versionId)
          }
          return
        }
        case "resume": {
          if (model.active !== undefined) {
            yield* store.resume({})
            Object.assign(model, { isHeld: false, active: latestOf(model), waiting: undefined })
          }
          return
        }
        case "wait": {
          const later = Math.max(0, now + step.minutes * 60_000)
          yield* TestClock.setTime(later)
          // The folder is read here, so that the store knows which leases were taken while the clock was ahead.
          yield* versions
          for (const [consumerId, ack] of model.acks) {
            model.acks.set(consumerId, { ...ack, time: Math.min(ack.time, later) })
          }
          return
        }
        case "activate": {
          const version = versionAt(step.pick)
          const file = `${directory}/manifest.json`
          if (version === undefined) {
            return
          }
          const { versionId } = version
          const manifest: object = JSON.parse(yield* fs.readFileString(file))
          yield* fs.writeFileString(
            file,
            JSON.stringify({ ...manifest, versionId, versionPath: `versions/${versionId}`, held: undefined })
          )
          Object.assign(model, { isHeld: false, active: versionId, waiting: undefined })
          return
        }
        case "acknowledge":
        case "writeAck": {
          const { consumerId, pick } = step
          const versionId = versionAt(pick)?.versionId
          if (versionId === undefined) {
            return
          }
          if (step.type === "acknowledge" && !isFresh(model.acks.get(consumerId), now)) {
            // A new lease makes room: expired leases are removed, and do not come back if the clock is set back.
            for (const [other, ack] of model.acks) {
              if (ack.versionId !== undefined && !isFresh(ack, now)) {
                model.acks.delete(other)
              }
            }
          }
          yield* step.type === "acknowledge"
            ? acknowledge(consumerId, versionId)
            : writeAck(consumerId, JSON.stringify({ versionId }))
          // The folder is read here, so that the store knows the last content of the file.
          yield* versions
          model.acks.set(consumerId, { versionId, time: now, isNonsense: false })
          return
        }
        case "writeNonsense": {
          yield* writeAck(step.consumerId, '{ "versionId": "2026')
          const versionId = model.acks.get(step.consumerId)?.versionId
          model.acks.set(step.consumerId, { versionId, time: now, isNonsense: true })
          return
        }
        case "removeAck": {
          yield* fs.remove(ackFile(step.consumerId), { force: true })
          model.acks.delete(step.consumerId)
          return
        }
        case "sweep": {
          for (const pick of step.locked) {
            locked.add(versionAt(pick)?.versionId ?? "none")
          }
          const kept = retained(model, keepVersions, now)
          const left = model.versions.filter(
            (version) => kept.includes(version) || locked.has(version.versionId)
          )
          const removed = model.versions.filter((version) => !left.includes(version))
          const swept = yield* withAdvancingClock(sweep)
          expect(swept.value).toEqual(removed.map(({ versionId }) => versionId))
          yield* TestClock.setTime(now)
          locked.clear()
          model.versions = left
          for (const [consumerId, { time, versionId }] of model.acks) {
            if (versionId !== undefined && time < now - Duration.toMillis(ackLease)) {
              model.acks.delete(consumerId)
              expect(yield* fs.exists(ackFile(consumerId))).toBe(false)
            }
          }
          return
        }
      }
    })

    /** The disk has what the model has, unchanged, and nothing else. */
    const compare = Effect.gen(function* () {
      const { manifest, versions } = yield* VersionStore
      const found = yield* versions
      const reading = yield* manifest
      expect(reading.status === "ok" && reading.manifest.held !== undefined).toBe(model.isHeld)
      expect(found.find(({ isWaiting }) => isWaiting)?.versionId).toBe(model.waiting)
      expect(found.map(({ versionId }) => versionId)).toEqual(
        model.versions.map(({ versionId }) => versionId)
      )
      expect(found.filter(({ active }) => active).map(({ versionId }) => versionId)).toEqual(
        model.active === undefined ? [] : [model.active]
      )
      for (const { content, versionId } of model.versions) {
        expect(yield* fs.readFileString(`${directory}/versions/${versionId}/objects/Objects.json`)).toBe(
          content
        )
      }
      expect(yield* fs.readDirectory(`${directory}/.staging`)).toEqual([])
    })

    for (const { loseManifest, steps } of sessions) {
      if (loseManifest) {
        yield* fs.remove(`${directory}/manifest.json`, { force: true })
        Object.assign(model, {
          isHeld: false,
          active: model.versions.at(-1)?.versionId,
          waiting: undefined
        })
      }
      for (const [consumerId, ack] of model.acks) {
        if (ack.isNonsense) {
          model.acks.set(consumerId, { ...ack, versionId: undefined })
        }
      }
      yield* compare.pipe(
        Effect.zipRight(Effect.forEach(steps, (step) => Effect.zipRight(execute(step), compare))),
        Effect.provide(store),
        Effect.provide(withLocked((path) => locked.has(basename(path))))
      )
    }
  }).pipe(
    Effect.scoped,
    withLog([]),
    Effect.provide(NodeContext.layer),
    Effect.provide(TestContext.TestContext)
  )

describe("versions on disk", () => {
  it(
    "are exactly those that the rules keep after a sweep, whatever happened before",
    () =>
      FastCheck.assert(
        FastCheck.asyncProperty(history, integer({ min: 1, max: 4 }), (history, keepVersions) =>
          Effect.runPromise(follow(history, keepVersions))
        ),
        { numRuns: histories }
      ),
    600_000
  )
})
