/**
 * Going back, holding and resuming by the commands, and the reports of these.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/TestClock"
import * as TestContext from "effect/TestContext"
import * as Content from "../../../src/layers/fetching/Content.ts"
import { makeContent } from "../../../src/layers/fetching/makeContent.ts"
import { problems } from "../../../src/layers/fetching/pluginReport.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import type { ContentSource } from "../../../src/services/ContentSource.ts"
import { EventBus } from "../../../src/services/EventBus.ts"
import type { ContentState } from "../../../src/services/Slices.ts"
import { VersionStore } from "../../../src/services/VersionStore.ts"
import {
  contentState,
  fetch,
  follow,
  names,
  rowOf,
  rowValue,
  services,
  servicesIn
} from "../../support/content.ts"
import { inMemory } from "../../support/inMemory.ts"
import { withLog } from "../../support/logged.ts"
import { inController, inTask } from "../../support/scenario.ts"

const dispatch = (type: string, fields: object = {}) =>
  Effect.flatMap(CommandBus, ({ dispatch }) => dispatch({ type: `content.${type}`, ...fields }))

/** A source with this text, which tests may edit. */
const makeSource = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const text = yield* Ref.make("one")
  const source: ContentSource = {
    id: "objects",
    fetch: ({ directory }) =>
      Effect.gen(function* () {
        const content = yield* Ref.get(text)
        yield* Effect.orDie(fs.writeFileString(`${directory}/text.txt`, content))
        return { fingerprint: content, records: 1, bytes: content.length }
      })
  }
  return { source, edit: (content: string) => Ref.set(text, content) }
})

const fetchLater = Effect.zipRight(TestClock.adjust("1 second"), fetch)

/** Runs the content of such a source, with two versions. */
const makeTwoVersions = Effect.gen(function* () {
  const { edit, source } = yield* makeSource
  yield* Content.fromSources({}, [source])
  yield* fetch
  yield* edit("two")
  yield* fetchLater
  return { edit }
})

/** The state without `isRead` of versions: a version counts as read while it is verified. */
const unread = ({ versions = [], ...state }: ContentState) => ({
  ...state,
  versions: versions.map(({ isRead, ...version }) => version)
})

const [first, second, third] = ["19700101T000000Z", "19700101T000001Z", "19700101T000002Z"]

const settings = { commands: true, name: "content", rules: { failingFor: "15 minutes" } } as const

describe("going back", () => {
  it.scoped("shows the previous version, which stays active until versions are resumed", () => {
    const log: Array<string> = []
    return Effect.gen(function* () {
      const { edit } = yield* makeTwoVersions
      const events = yield* follow

      const since = "1970-01-01T00:00:01.000Z"
      const held = { since, by: "anna@desk", waiting: second }
      expect(yield* dispatch("rollback", { by: "anna@desk" })).toEqual({
        versionId: first,
        changed: true,
        held
      })
      expect(yield* events.until("content:version:promoted")).toMatchObject([
        { name: "content:version:promoted", payload: { versionId: first } }
      ])
      const marked = (active: boolean, isWaiting: boolean) => ({ active, isWaiting })
      expect(yield* contentState).toMatchObject({
        versionId: first,
        held,
        versions: [marked(true, false), marked(false, true)]
      })
      const text = `since ${since} by anna@desk: version ${first} stays; version ${second} waits`
      expect(yield* rowOf("Held")).toEqual({ type: "kv", label: "Held", value: text, tone: "warn" })
      expect(yield* rowValue("Active version")).toBe(first)

      yield* edit("three")
      const waiting = { ...held, waiting: third }
      const outcome = yield* fetchLater
      expect(outcome).toMatchObject({ changed: false, versionId: first, held: waiting })
      expect(names(yield* events.until("content:fetch:done"))).toEqual([
        "content:fetch:start",
        "content:source:start",
        "content:source:done",
        "content:fetch:done"
      ])
      expect(yield* fetchLater).toMatchObject({ changed: false, held: waiting })
      expect(yield* contentState).toMatchObject({ versionId: first, held: waiting })
      expect(yield* rowValue("Last fetch")).toContain(`version ${third} waits`)
      yield* events.until("content:fetch:done")

      expect(yield* dispatch("resume")).toEqual({ versionId: third, changed: true })
      expect(yield* events.until("content:version:promoted")).toMatchObject([
        { payload: { versionId: third } }
      ])
      expect(yield* contentState).not.toMatchObject({ held: expect.anything() })
      expect(yield* rowValue("Last fetch")).toMatch(/, new version$/)
      const last = [marked(false, false), marked(false, false), marked(true, false)]
      expect(yield* contentState).toMatchObject({ versionId: third, versions: last })
      expect(yield* rowOf("Held")).toBe(undefined)
      expect(yield* dispatch("resume")).toEqual({ versionId: third, changed: false })
      yield* edit("four")
      expect(yield* fetchLater).toMatchObject({ changed: true })
      // Events of the second resume would come first.
      expect((yield* events.until("content:version:promoted"))[0]?.name).toBe("content:fetch:start")
      expect(log.join("\n")).toContain(`Active version ${first}, held ${text}`)
      expect(log.join("\n")).toContain(
        `New version ${third} waits, because version ${first} is held: 1 record`
      )
      expect(log.join("\n")).toContain(`Active version ${third}\n`)
    }).pipe(withLog(log), Effect.provide(services("task")))
  })

  inController("shows a source that is new since the held version", function* () {
    const { source } = yield* makeSource
    yield* Effect.scoped(
      Content.fromSources({}, [source]).pipe(Effect.zipRight(fetch), Effect.zipRight(dispatch("hold")))
    )
    yield* Content.fromSources({}, [source, { ...source, id: "rooms" }])
    expect(yield* fetchLater).toMatchObject({ held: { waiting: second } })
    expect(Object.keys((yield* contentState).sources)).toEqual(["objects", "rooms"])
  })

  inTask("can be a hold of the active version, without an event for clients", function* () {
    const { edit, source } = yield* makeSource
    yield* Content.fromSources({}, [source])
    yield* fetch
    const events = yield* follow
    const held = { since: "1970-01-01T00:00:00.000Z" }
    expect(yield* dispatch("hold")).toEqual({ versionId: first, changed: false, held })
    expect(yield* rowValue("Held")).toBe(`since ${held.since}: version ${first} stays`)
    yield* edit("two")
    yield* fetchLater
    expect(names(yield* events.until("content:fetch:done"))).not.toContain("content:version:promoted")
    expect(yield* dispatch("resume")).toEqual({ versionId: second, changed: true })
  })

  inTask("keeps holding after the waiting version was released", function* () {
    const { edit, source } = yield* makeSource
    yield* Content.fromSources({}, [source])
    yield* fetch
    yield* dispatch("hold", { by: "anna@desk" })
    yield* edit("two")
    yield* fetchLater
    const events = yield* follow
    const held = { since: "1970-01-01T00:00:00.000Z", by: "anna@desk" }
    expect(yield* dispatch("release", { by: "ben@desk" })).toEqual({
      versionId: second,
      changed: true,
      held
    })
    expect(yield* events.until("content:version:promoted")).toMatchObject([
      { payload: { versionId: second } }
    ])
    const released = { at: "1970-01-01T00:00:01.000Z", by: "ben@desk" }
    expect(yield* contentState).toMatchObject({ versionId: second, held, released })
    expect(yield* dispatch("versions")).toMatchObject({ held, released })
    expect(yield* dispatch("release")).toEqual({ versionId: second, changed: false, held })
    const error = yield* Effect.flip(dispatch("release", { versionId: "20990101T000000Z" }))
    expect(error.message).toContain('There is no version "20990101T000000Z" on disk')
  })

  it.scoped("causes no warning if versions are released by hand", () => {
    const log: Array<string> = []
    return Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      yield* Effect.gen(function* () {
        const { edit, source } = yield* makeSource
        yield* Content.fromSources({}, [source])
        yield* fetch
        yield* edit("two")
        const waits = { held: { since: "1970-01-01T00:00:01.000Z", byRule: true, waiting: second } }
        expect(yield* fetchLater).toMatchObject({ changed: false, versionId: first, ...waits })
        expect(yield* rowOf("Held")).toBe(undefined)
        expect(yield* rowOf("Waits")).toEqual({
          type: "kv",
          label: "Waits",
          value: `version ${second} has waited for a release since 1970-01-01T00:00:01.000Z`
        })
        expect(problems("content", yield* contentState, { failingFor: "1 minute" }, 0)).toEqual([])
        expect(yield* dispatch("release")).toEqual({ versionId: second, changed: true })
        expect(yield* rowOf("Waits")).toBe(undefined)
      }).pipe(Effect.provide(Layer.fresh(servicesIn(directory, "task", undefined, "by hand"))))
      expect(log.join("\n")).toContain(`New version ${second} waits to be released: 1 record`)
    }).pipe(withLog(log), Effect.scoped, Effect.provide(services("task")))
  })

  inTask("overrides a fetch that promoted a version just before", function* () {
    const store = yield* VersionStore
    const promoted = yield* Effect.makeLatch()
    const release = yield* Effect.makeLatch(true)
    let edition = 0
    yield* makeContent({ ...settings, schedule: Schedule.recurs(0) }, () =>
      Effect.succeed({
        sourceIds: [],
        fetch: Effect.gen(function* () {
          const staged = yield* store.stage
          yield* staged.sourceDirectory("objects")
          const promotion = yield* staged.promote([{ sourceId: "objects", fingerprint: String(++edition) }])
          yield* promoted.open
          yield* release.await
          return { ...promotion, records: 1 }
        }).pipe(Effect.scoped)
      })
    )
    yield* fetch
    yield* promoted.close
    yield* release.close
    const fetching = yield* Effect.fork(fetchLater)
    yield* promoted.await
    const events = yield* follow
    expect(yield* dispatch("rollback")).toMatchObject({ versionId: first, held: { waiting: second } })
    yield* release.open
    expect(yield* Fiber.join(fetching)).toMatchObject({ versionId: first, held: { waiting: second } })
    // The first version was announced last, and is active again.
    expect(names(yield* events.until("content:fetch:done"))).not.toContain("content:version:promoted")
    expect(yield* contentState).toMatchObject({ versionId: first, held: { waiting: second } })
  })

  inTask("still applies after a restart of the controller", function* ({ fs }) {
    const directory = yield* fs.makeTempDirectoryScoped()
    const { edit, source } = yield* makeSource
    yield* Effect.gen(function* () {
      yield* Content.fromSources({}, [source])
      yield* fetch
      yield* edit("two")
      yield* fetchLater
      yield* dispatch("rollback", { versionId: first })
    }).pipe(Effect.scoped, Effect.provide(Layer.fresh(servicesIn(directory, "task"))))
    yield* Effect.gen(function* () {
      const { start } = yield* Content.fromSources({}, [source])
      const events = yield* follow
      yield* start
      const [ready, ...others] = yield* events.until("content:fetch:done")
      expect(ready).toMatchObject({ name: "content:version:promoted", payload: { versionId: first } })
      expect(names(others)).not.toContain("content:version:promoted")
      expect(yield* contentState).toMatchObject({ versionId: first, held: { waiting: second } })
    }).pipe(Effect.scoped, Effect.provide(Layer.fresh(servicesIn(directory, "persistent"))))
  })

  inTask("shows in the status which held version is gone", function* ({ fs }) {
    const directory = yield* fs.makeTempDirectoryScoped()
    yield* Effect.gen(function* () {
      yield* makeTwoVersions
      yield* dispatch("hold", { by: "anna" })
      yield* fs.remove(`${directory}/versions/${second}`, { recursive: true })
      yield* fetchLater
      expect(yield* rowOf("Held")).toEqual({
        type: "kv",
        label: "Held",
        value: `since 1970-01-01T00:00:01.000Z by anna: version ${first} stays in place of ${second}, which is no longer on disk; version ${third} waits`,
        tone: "warn"
      })
      expect(yield* contentState).toMatchObject({ versionId: first, held: { lost: second } })
    }).pipe(Effect.scoped, withLog([]), Effect.provide(Layer.fresh(servicesIn(directory, "task"))))
  })

  for (const [step, shown] of [
    ["rollback", first],
    ["resume", second]
  ] as const) {
    inTask(`does not activate a version with changed files, by a ${step}`, function* ({ fs }) {
      const directory = yield* fs.makeTempDirectoryScoped()
      yield* Effect.gen(function* () {
        yield* makeTwoVersions
        yield* step === "resume" ? dispatch("rollback") : Effect.void
        const before = yield* contentState
        const file = `${directory}/versions/${shown}/objects/text.txt`
        const text = yield* fs.readFileString(file)
        yield* fs.writeFileString(file, text.toUpperCase())
        expect((yield* Effect.flip(dispatch(step))).message).toContain("files are missing or damaged")
        expect(unread(yield* contentState)).toEqual(unread(before))
        yield* fs.writeFileString(file, text)
        yield* fs.writeFileString(`${directory}/versions/${shown}/.DS_Store`, "of a file manager")
        expect(yield* dispatch(step)).toMatchObject({ versionId: shown, changed: true })
      }).pipe(Effect.scoped, Effect.provide(Layer.fresh(servicesIn(directory, "task"))))
    })
  }

  inTask(
    "announces the version that is active after two concurrent steps, whichever reports first",
    function* () {
      yield* makeTwoVersions
      const events = yield* follow
      const store = yield* VersionStore
      yield* store.hold({ versionId: first })
      expect(yield* dispatch("hold")).toMatchObject({ versionId: first, changed: false })
      expect(yield* events.until("content:version:promoted")).toMatchObject([
        { payload: { versionId: first } }
      ])
    }
  )

  inTask("fails with a list of the existing versions if it is not possible", function* () {
    const { edit, source } = yield* makeSource
    yield* Content.fromSources({}, [source])
    const failure = (fields: object) =>
      Effect.map(Effect.flip(dispatch("rollback", fields)), ({ message }) => message)
    expect(yield* failure({})).toContain("Cannot roll back: no version is active. On disk: no versions.")
    yield* fetch
    expect(yield* failure({})).toContain(
      `Cannot roll back: no version is older than the active one, ${first}. On disk: ${first}.`
    )
    yield* edit("two")
    yield* fetchLater
    for (const versionId of ["20990101T000000Z", "../versions", ""]) {
      expect(yield* failure({ versionId })).toContain(
        `there is no version ${JSON.stringify(versionId)}. On disk: ${first}, ${second}.`
      )
    }
    expect(yield* rowOf("Held")).toBe(undefined)
  })

  inTask("has a list of versions with their sources to choose from", function* ({ fs }) {
    const directory = yield* fs.makeTempDirectoryScoped()
    yield* Effect.gen(function* () {
      const { edit, source } = yield* makeSource
      yield* Content.fromSources({}, [source])
      yield* fetch
      yield* edit("second")
      yield* fetchLater
      yield* dispatch("ack", { consumerId: "screen-1", versionId: first })
      yield* dispatch("rollback")
      const overview = { isRead: false, leases: [] }
      expect(yield* dispatch("versions")).toEqual({
        held: expect.objectContaining({ waiting: second }),
        versions: [
          {
            ...overview,
            isRead: true,
            versionId: first,
            active: true,
            isWaiting: false,
            leases: [expect.objectContaining({ consumerId: "screen-1" })],
            generatedAt: "1970-01-01T00:00:00.000Z",
            sources: [{ sourceId: "objects", records: 1, files: 1, bytes: 3 }]
          },
          {
            ...overview,
            versionId: second,
            active: false,
            isWaiting: true,
            changes: ["files: text.txt changed"],
            generatedAt: "1970-01-01T00:00:01.000Z",
            sources: [{ sourceId: "objects", records: 1, files: 1, bytes: 6 }]
          }
        ]
      })
    }).pipe(Effect.scoped, Effect.provide(Layer.fresh(servicesIn(directory, "task"))))
  })
})

type Step = "fetch" | "edit" | "rollback" | "hold" | "release" | "resume"

const step = FastCheck.constantFrom<Array<Step>>("fetch", "edit", "rollback", "hold", "release", "resume")
const steps = FastCheck.array(FastCheck.array(step, { minLength: 1, maxLength: 4 }), {
  minLength: 1,
  maxLength: 8
})

const Promoted = Schema.Struct({ versionId: Schema.String })

/** Runs each group concurrently, and the groups one after the other. */
const interleave = (groups: ReadonlyArray<ReadonlyArray<Step>>, release: "at once" | "by hand") =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const directory = yield* fs.makeTempDirectoryScoped(inMemory)
    yield* Effect.gen(function* () {
      const { edit, source } = yield* makeSource
      yield* Content.fromSources({}, [source])
      const store = yield* VersionStore
      const bus = yield* EventBus
      const events = yield* follow
      let edits = 0
      let last = ""
      const run = (step: Step) =>
        step === "edit"
          ? edit(String(++edits))
          : // There may be nothing yet that could be held.
            Effect.ignore(dispatch(step))
      for (const group of groups) {
        yield* Effect.forEach(group, run, { concurrency: "unbounded", discard: true })
        yield* fetchLater
        yield* bus.publish("end", null)
        const announced = (yield* events.until("end")).flatMap(({ name, payload }) =>
          name === "content:version:promoted" ? [Schema.decodeUnknownSync(Promoted)(payload).versionId] : []
        )
        for (const versionId of announced) {
          expect(versionId).not.toBe(last)
          last = versionId
        }
        const reading = yield* store.manifest
        const { held, versionId } = Option.getOrThrow(
          Option.liftPredicate(reading, (reading) => reading.status === "ok")
        ).manifest
        expect(versionId).toBe(last)
        expect(yield* contentState).toMatchObject({ versionId, ...(held === undefined ? {} : { held }) })
        const latest = held?.waiting ?? versionId
        expect(yield* fs.readFileString(`${directory}/versions/${latest}/objects/text.txt`)).toBe(
          edits === 0 ? "one" : String(edits)
        )
      }
    }).pipe(Effect.scoped, Effect.provide(servicesIn(directory, "task", undefined, release)))
  }).pipe(
    Effect.scoped,
    withLog([]),
    Effect.provide(services("task")),
    Effect.provide(TestContext.TestContext)
  )

it(
  "whatever happens at the same time, the active version is the last one announced, and no version is announced twice in a row",
  () =>
    FastCheck.assert(
      FastCheck.asyncProperty(
        steps,
        FastCheck.constantFrom("at once" as const, "by hand" as const),
        (groups, release) => Effect.runPromise(interleave(groups, release))
      ),
      { numRuns: 10 }
    ),
  180_000
)
