import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as MetricKey from "effect/MetricKey"
import * as MetricPair from "effect/MetricPair"
import * as MetricState from "effect/MetricState"
import * as Ref from "effect/Ref"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { layer } from "../../../src/layers/memory/ControllerStateMemory.ts"
import { ControllerState, type Mode, type Row } from "../../../src/services/ControllerState.ts"
import { type Case, runCase } from "../../../src/testing/runCase.ts"
import { withJumpingClock } from "../../support/jumpingClock.ts"
import { withLog } from "../../support/logged.ts"

const identity = {
  node: { id: "hall-3", label: "Hall 3", role: "player" },
  screens: [{ id: "left", label: "Left wall" }, { id: "right" }],
  players: [{ id: "hall-4", label: "Hall 4" }, { id: "hall-5" }]
}

const startTime = "2026-03-01T12:00:00.000Z"

const text = (text: string): Row => ({ type: "text", text })

const addSection = (
  name: string,
  order?: number,
  rows: Effect.Effect<ReadonlyArray<Row>, unknown> = Effect.succeed([text(name)])
) =>
  Effect.flatMap(ControllerState, (state) =>
    state.addSection({ name, title: name, rows, ...(order === undefined ? {} : { order }) })
  )

type Rows = (state: typeof ControllerState.Service) => Effect.Effect<ReadonlyArray<Row>>

const sectionNames = Effect.flatMap(ControllerState, ({ status }) =>
  Effect.map(status, ({ sections }) => sections.map(({ name }) => name))
)

const scenario = (title: string, test: Case<typeof ControllerState.Service, ControllerState>) =>
  it.effect(title, () => Effect.provide(runCase(ControllerState, test), layer("persistent", identity)))

describe("ControllerStateMemory", () => {
  it.effect.each<Mode>(["task", "persistent"])(
    "has the id, the mode %s and the start time of the controller",
    (mode) =>
      Effect.gen(function* () {
        yield* TestClock.setTime(Date.parse(startTime))
        yield* runCase(ControllerState, function* (controller) {
          expect(controller.mode).toBe(mode)
          const { problems = [], ...state } = yield* controller.state
          expect(state).toEqual({ system: { startTime, mode, ...identity }, plugins: {}, _version: 0 })
          // An expected screen may become a problem later.
          expect(problems).toEqual([])
          yield* TestClock.adjust("90 seconds")
          expect(yield* controller.status).toEqual({
            header: { startTime, uptimeMs: 90_000, mode, node: identity.node },
            sections: []
          })
        }).pipe(Effect.provide(layer(mode, identity)))
      })
  )

  scenario(
    "has a slice for each plugin, which is undefined at first, and counts changes",
    function* ({ state, updateSlice }) {
      const before = yield* state
      const given: Array<unknown> = []
      for (const plugin of ["content", "constructor", "__proto__"]) {
        yield* updateSlice(plugin, (slice) => {
          given.push(slice)
          return { of: plugin }
        })
      }
      yield* updateSlice("content", (slice) => ({ was: slice }))
      const after = yield* state
      expect(given).toEqual([undefined, undefined, undefined])
      expect(Object.entries(after.plugins)).toEqual([
        ["content", { was: { of: "content" } }],
        ["constructor", { of: "constructor" }],
        ["__proto__", { of: "__proto__" }]
      ])
      expect(before).toMatchObject({ plugins: {}, _version: 0 })
      expect(after._version).toBe(4)
    }
  )

  scenario("loses no change among concurrent ones", function* ({ state, updateSlice }) {
    yield* Effect.all(
      Array.from({ length: 50 }, () =>
        Effect.zipRight(
          Effect.yieldNow(),
          updateSlice("counter", (slice) => (typeof slice === "number" ? slice + 1 : 1))
        )
      ),
      { concurrency: "unbounded" }
    )
    expect(yield* state).toMatchObject({ plugins: { counter: 50 }, _version: 50 })
  })

  scenario("does not change when an update fails", function* ({ state, updateSlice }) {
    yield* updateSlice("a", () => 1)
    const exit = yield* Effect.exit(
      updateSlice("a", () => {
        throw new Error("no")
      })
    )
    expect(Exit.isFailure(exit)).toBe(true)
    expect(yield* state).toMatchObject({ plugins: { a: 1 }, _version: 1 })
  })

  scenario("sorts sections by order, then as they were added", function* () {
    yield* addSection("late", 90)
    yield* addSection("default")
    yield* addSection("explicit", 50)
    yield* addSection("first", -1)
    yield* addSection("another default")
    yield* addSection("early", 10)
    expect(yield* sectionNames).toEqual(["first", "early", "default", "explicit", "another default", "late"])
  })

  scenario("builds rows again for every status, and returns a section as it was added", function* () {
    let built = 0
    const rows = Effect.sync(() => [text(`build ${++built}`)])
    const { addSection, status } = yield* ControllerState
    yield* addSection({ name: "s", order: 3, title: "S", rows })
    yield* addSection({ name: "t", title: "T", rows: Effect.succeed([]) })
    yield* status
    expect((yield* status).sections).toEqual([
      { name: "s", order: 3, title: "S", rows: [text("build 2")] },
      { name: "t", title: "T", rows: [] }
    ])
  })

  scenario("leaves out a section that fails, dies, throws or is interrupted", function* () {
    yield* addSection("good", 1)
    yield* addSection("fails", 2, Effect.fail("no"))
    yield* addSection("dies", 3, Effect.die(new Error("no")))
    yield* addSection("interrupted", 4, Effect.interrupt)
    yield* addSection(
      "throws",
      5,
      Effect.sync(() => {
        throw new Error("no")
      })
    )
    yield* addSection("good too", 6)
    expect(yield* sectionNames).toEqual(["good", "good too"])
  })

  scenario(
    "reads momentary values with the state, as fields of the slice, without a new version",
    function* () {
      let read = 0
      const { addMomentary, state, updateSlice } = yield* ControllerState
      yield* updateSlice("s", () => ({ url: "u", calls: "none" }))
      const scope = yield* Scope.make()
      yield* Scope.extend(
        addMomentary(
          "s",
          Effect.sync(() => ({ calls: ++read }))
        ),
        scope
      )
      yield* addMomentary("new", Effect.succeed({ is: "here" }))
      yield* addMomentary("fails", Effect.fail("no"))
      yield* addMomentary("dies", Effect.die("no"))
      yield* state
      expect(yield* state).toMatchObject({
        plugins: { s: { url: "u", calls: 2 }, new: { is: "here" } },
        _version: 1
      })
      expect(Object.keys((yield* state).plugins)).toEqual(["s", "new"])
      yield* Scope.close(scope, Exit.void)
      expect((yield* state).plugins.s).toEqual({ url: "u", calls: "none" })
    }
  )

  scenario(
    "shows what a plugin reports as problems in its slice, first in its section",
    function* ({ updateSlice }) {
      const { addMomentary, addSection, status } = yield* ControllerState
      const problem = (severity: string, text: string) => ({ code: "lamp:broken", severity, text })
      yield* updateSlice("lamp", () => ({ problems: [problem("error", "The lamp is broken."), "odd"] }))
      yield* addMomentary("door", Effect.succeed({ problems: [problem("warning", "The door is open.")] }))
      yield* updateSlice("fine", () => ({ problems: [] }))
      yield* addSection({ name: "lamp", title: "Lamp", rows: Effect.succeed([text("bulb")]) })
      expect((yield* status).sections).toEqual([
        {
          name: "lamp",
          title: "Lamp",
          rows: [{ type: "text", text: "The lamp is broken.", tone: "error" }, text("bulb")]
        },
        { name: "door", title: "Door", rows: [{ type: "text", text: "The door is open.", tone: "warn" }] }
      ])
    }
  )

  scenario(
    "has the sections, problems and metrics of a plugin's slice until the scope ends",
    function* ({ state, status, updateSlice }) {
      const { addMomentary, addReading, read } = yield* ControllerState
      const lit = MetricPair.unsafeMake(MetricKey.gauge("lamps_lit"), MetricState.gauge(2))
      yield* updateSlice("lamp", () => ({ lit: 1 }))
      yield* addMomentary("lamp", Effect.succeed({ broken: 3 }))
      const scope = yield* Scope.make()
      yield* Scope.extend(
        addReading("lamp", (slice, { now, state }) => ({
          sections: [{ name: "lamp", order: 7, title: "Lamp", rows: [text(JSON.stringify(slice))] }],
          problems: [{ code: "lamp:broken", severity: "warning", text: `${state.system.mode} ${now}` }],
          metrics: () => [lit],
          logs: ["lamp:broken"]
        })),
        scope
      )
      yield* addReading("throws", () => {
        throw new Error("no")
      })
      yield* addReading("says nothing", () => ({}))
      yield* TestClock.setTime(5)
      const reading = yield* read
      expect(reading).toMatchObject({ view: { now: 5 }, logs: new Set(["lamp:broken"]) })
      expect(reading.metrics()).toContain(lit)
      expect((yield* state).problems).toMatchObject([{ code: "lamp:broken", text: "persistent 5", count: 1 }])
      expect(reading.state.problems).toEqual((yield* state).problems)
      expect((yield* status).sections).toEqual(reading.view.sections)
      expect(reading.view.sections).toEqual([
        { name: "lamp", order: 7, title: "Lamp", rows: [text('{"lit":1,"broken":3}')] }
      ])
      yield* Scope.close(scope, Exit.void)
      expect((yield* state).problems).toEqual([])
      expect((yield* status).sections).toEqual([])
    }
  )

  scenario("shows a section until its scope ends", function* () {
    const scope = yield* Scope.make()
    yield* Scope.extend(addSection("passing"), scope)
    yield* addSection("staying")
    expect(yield* sectionNames).toEqual(["passing", "staying"])
    yield* Scope.close(scope, Exit.void)
    expect(yield* sectionNames).toEqual(["staying"])
  })

  it.scoped.each<{ readonly what: string; readonly rows: Rows }>([
    { what: "never end", rows: () => Effect.never },
    { what: "cannot be interrupted", rows: () => Effect.uninterruptible(Effect.never) },
    { what: "read the state", rows: ({ state }) => Effect.map(state, () => []) }
  ])("leaves out a section and fields that $what, for a minute", ({ rows }) =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const isFine = yield* Ref.make(false)
      const state = yield* ControllerState
      const part = Effect.flatMap(Ref.get(isFine), (isFine) => (isFine ? Effect.succeed([]) : rows(state)))
      yield* addSection("slow", 1, part)
      yield* state.addMomentary("slow fields", part)
      yield* addSection("good", 2)
      const reads = yield* Effect.fork(
        withLog(lines)(Effect.replicateEffect(Effect.uninterruptible(sectionNames), 3))
      )
      expect(yield* Fiber.join(reads)).toEqual([["good"], ["good"], ["good"]])
      expect(lines.toSorted()).toEqual([
        expect.stringMatching(/^WARN The momentary state of "slow fields" could not be read: it took longer/),
        expect.stringMatching(/^WARN The status section "slow" could not be built: it took longer/)
      ])
      yield* Ref.set(isFine, true)
      expect(yield* sectionNames).toEqual(["good"])
      yield* TestClock.adjust("1 minute")
      expect(yield* sectionNames).toEqual(["slow", "good"])
    }).pipe(Effect.provide(layer("persistent")))
  )

  it.scoped("logs which section could not be built, once until it can be", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      let isFull = true
      const { addSection, status } = yield* ControllerState
      const rows = Effect.suspend(() => (isFull ? Effect.fail("full") : Effect.succeed([])))
      yield* addSection({ name: "disk", title: "Disk", rows })
      const look = withLog(lines)(status)
      yield* Effect.replicateEffect(look, 3)
      expect(lines).toEqual([expect.stringMatching(/^WARN The status section "disk" could not be built/)])
      isFull = false
      yield* look
      isFull = true
      yield* look
      expect(lines).toHaveLength(2)
    }).pipe(Effect.provide(layer("persistent")))
  )

  it.effect("measures its uptime independently of the system clock", () =>
    withJumpingClock(({ adjust, set }) =>
      Effect.gen(function* () {
        const { status } = yield* ControllerState
        yield* set(-86_400_000)
        yield* adjust("5 seconds")
        expect((yield* status).header).toMatchObject({
          startTime: "1970-01-01T00:00:00.000Z",
          uptimeMs: 5000
        })
      }).pipe(Effect.provide(layer("persistent")))
    )
  )

  it.scoped("has the problems of slices, errors first, with the time of their begin", () =>
    Effect.gen(function* () {
      const { addMomentary, state, updateSlice } = yield* ControllerState
      const slow = { code: "lamp:slow", severity: "warning", text: "The lamp is slow." }
      const out = { code: "door:open", severity: "error", subject: "left", text: "The left door is open." }
      expect((yield* state).problems).toEqual([])
      yield* updateSlice("lamp", () => ({ problems: [slow] }))
      yield* addMomentary("door", Effect.succeed({ problems: [out] }))
      yield* state
      yield* TestClock.adjust("1 minute")
      const since = "1970-01-01T00:00:00.000Z"
      expect(yield* state).toMatchObject({
        problems: [
          { ...out, since, count: 1 },
          { ...slow, since, count: 1 }
        ],
        _version: 1
      })
    }).pipe(Effect.provide(layer("persistent")))
  )

  it.effect("counts how often a problem has begun, whoever reads the state", () =>
    Effect.gen(function* () {
      const { state, status, updateSlice } = yield* ControllerState
      const slow = { code: "lamp:slow", severity: "warning", text: "The lamp is slow." }
      for (const problems of [[slow], [], [slow], [slow], []]) {
        yield* updateSlice("lamp", () => ({ problems }))
        yield* status
      }
      yield* updateSlice("lamp", () => ({ problems: [slow] }))
      expect((yield* state).problems).toMatchObject([{ count: 3 }])
    }).pipe(Effect.provide(layer("persistent")))
  )

  it.scoped("is made once for all concurrent callers, even if the first caller is interrupted", () =>
    Effect.gen(function* () {
      const { addMomentary, read, updateSlice } = yield* ControllerState
      const held = yield* Deferred.make<void>()
      yield* addMomentary("lamp", Effect.as(Deferred.await(held), { isOn: true }))
      const first = yield* Effect.fork(read)
      yield* Effect.yieldNow()
      const others = yield* Effect.fork(Effect.all([read, read, read], { concurrency: "unbounded" }))
      yield* Effect.replicateEffect(Effect.yieldNow(), 10)
      yield* updateSlice("door", () => ({ isOpen: true }))
      yield* Fiber.interrupt(first)
      yield* Deferred.succeed(held, undefined)
      const [one, ...same] = yield* Fiber.join(others)
      expect(same.every((reading) => reading === one)).toBe(true)
      expect(one.state.plugins).toEqual({ lamp: { isOn: true }, door: { isOpen: true } })
    }).pipe(Effect.provide(layer("persistent")))
  )

  it.scoped("is read although a value of a plugin throws when it is compared", () =>
    Effect.gen(function* () {
      const { addMomentary, read } = yield* ControllerState
      const odd = () => ({
        get broken(): never {
          throw new Error("odd")
        }
      })
      yield* addMomentary(
        "odd",
        Effect.sync(() => ({ parts: [odd()] }))
      )
      yield* read
      expect(Object.keys((yield* read).state.plugins)).toEqual(["odd"])
    }).pipe(Effect.provide(layer("persistent")))
  )

  it.scoped("is used for a second while nothing changes, and made again after each change", () =>
    Effect.gen(function* () {
      const { addMomentary, addSection, read, updateSlice } = yield* ControllerState
      const lamp = yield* Ref.make(["on"])
      const rows = yield* Ref.make(0)
      yield* addMomentary(
        "lamp",
        Effect.map(Ref.get(lamp), (words) => ({ words: [...words] }))
      )
      yield* addSection({
        name: "disk",
        title: "Disk",
        rows: Effect.map(Ref.get(rows), (count) => [{ type: "text", text: `${count} files` }])
      })
      const first = yield* read
      expect(yield* read).toBe(first)
      const viewAfter = (change: Effect.Effect<void>) => Effect.zipRight(change, read)
      const views = [
        first,
        yield* viewAfter(updateSlice("door", () => ({ isOpen: true }))),
        yield* viewAfter(Ref.set(lamp, ["off"])),
        yield* viewAfter(Ref.set(rows, 1)),
        yield* viewAfter(TestClock.adjust("1 second"))
      ]
      expect(new Set(views).size).toBe(views.length)
      yield* TestClock.adjust("999 millis")
      expect(yield* read).toBe(views.at(-1))
    }).pipe(Effect.provide(layer("persistent")))
  )

  it.scoped("reads momentary values and each section once for the state with its problems", () =>
    Effect.gen(function* () {
      const { addMomentary, addSection, state } = yield* ControllerState
      let reads = 0
      const read = <A>(value: A) =>
        Effect.sync(() => {
          reads++
          return value
        })
      yield* addMomentary("door", read({ problems: [] }))
      yield* addSection({ name: "disk", title: "Disk", rows: read([]) })
      yield* state
      expect(reads).toBe(2)
    }).pipe(Effect.provide(layer("persistent")))
  )
})
