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
import { layer } from "../../../src/layers/controller/ControllerStateMemory.ts"
import { ControllerState, type Mode, type Row } from "../../../src/services/ControllerState.ts"
import { type Case, runCase } from "../../../src/testing/runCase.ts"
import { withJumpingClock } from "../../support/jumpingClock.ts"
import { reportedContent } from "../../support/plugins.ts"

const identity = {
  node: { id: "hall-3", label: "Hall 3", role: "player" },
  screens: [{ id: "left", label: "Left wall" }, { id: "right" }],
  players: [{ id: "hall-4", label: "Hall 4" }, { id: "hall-5" }]
}

const startTime = "2026-03-01T12:00:00.000Z"

const text = (text: string): Row => ({ type: "text", text })

/** A plugin with one section, whose row is its slice. */
const shown = (name: string, order?: number) =>
  Effect.flatMap(ControllerState, ({ register }) =>
    register({
      name,
      report: () => ({
        sections: [{ name, title: name, rows: [text(name)], ...(order === undefined ? {} : { order }) }]
      })
    })
  )

const sectionNames = Effect.flatMap(ControllerState, ({ status }) =>
  Effect.map(status, ({ sections }) => sections.map(({ name }) => name))
)

const scenario = (title: string, test: Case<typeof ControllerState.Service, ControllerState>) =>
  it.effect(title, () => Effect.provide(runCase(ControllerState, test), layer("persistent", identity)))

const lamp = (severity: string, text: string) => ({ code: "lamp:broken", severity, text })

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

  it.effect("has the times of the new clock when somebody sets the clock of the machine", () =>
    withJumpingClock(({ adjust, set }) =>
      runCase(ControllerState, function* ({ read, register }) {
        yield* register({
          name: "lamp",
          report: () => ({ problems: [{ code: "lamp", severity: "error", text: "dark" }] })
        })
        yield* read
        yield* adjust("20 seconds")
        yield* set(Date.parse(startTime))
        yield* adjust("10 seconds")
        const { state, view } = yield* read
        expect(view.header).toMatchObject({ startTime, uptimeMs: 30_000 })
        expect(state.system.startTime).toBe(startTime)
        expect(view.problems).toMatchObject([{ code: "lamp", since: startTime }])
      }).pipe(Effect.provide(layer("persistent", identity)))
    )
  )

  scenario("has a slice for each plugin, and counts changes", function* ({ register, state }) {
    const before = yield* state
    for (const name of ["content", "constructor", "__proto__"]) {
      yield* register({ name, slice: { of: name } })
    }
    const { update } = yield* register<unknown>({ name: "later" })
    const given: Array<unknown> = []
    for (const slice of [{ is: 1 }, { is: 2 }]) {
      yield* update((before) => {
        given.push(before)
        return slice
      })
    }
    const after = yield* state
    expect(given).toEqual([undefined, { is: 1 }])
    expect(Object.entries(after.plugins)).toEqual([
      ["content", { of: "content" }],
      ["constructor", { of: "constructor" }],
      ["__proto__", { of: "__proto__" }],
      ["later", { is: 2 }]
    ])
    expect(before).toMatchObject({ plugins: {}, _version: 0 })
    expect(after._version).toBe(5)
  })

  scenario("loses no change among concurrent ones", function* ({ register, state }) {
    const { update } = yield* register({ name: "counter", slice: 0 })
    yield* Effect.all(
      Array.from({ length: 50 }, () =>
        Effect.zipRight(
          Effect.yieldNow(),
          update((count = 0) => count + 1)
        )
      ),
      { concurrency: "unbounded" }
    )
    expect(yield* state).toMatchObject({ plugins: { counter: 50 }, _version: 51 })
  })

  scenario(
    "keeps one slice of a program that is no plugin, whoever changes it",
    function* ({ state, updateSlice }) {
      const increment = updateSlice("lift", (floor) => (typeof floor === "number" ? floor + 1 : 1))
      yield* Effect.interruptible(Effect.flatMap(Effect.fork(increment), Fiber.interrupt))
      yield* Effect.all(
        Array.from({ length: 50 }, () => Effect.zipRight(Effect.yieldNow(), increment)),
        {
          concurrency: "unbounded"
        }
      )
      const { plugins } = yield* state
      expect(Object.keys(plugins)).toEqual(["lift"])
      expect(Number(plugins.lift)).toBeGreaterThanOrEqual(50)
    }
  )

  scenario("does not change when an update fails", function* ({ register, state }) {
    const { update } = yield* register({ name: "a", slice: 1 })
    const exit = yield* Effect.exit(
      update(() => {
        throw new Error("no")
      })
    )
    expect(Exit.isFailure(exit)).toBe(true)
    expect(yield* state).toMatchObject({ plugins: { a: 1 }, _version: 1 })
  })

  scenario("sorts sections by order, then as their plugins were registered", function* () {
    yield* shown("late", 90)
    yield* shown("default")
    yield* shown("explicit", 50)
    yield* shown("first", -1)
    yield* shown("another default")
    yield* shown("early", 10)
    expect(yield* sectionNames).toEqual(["first", "early", "default", "explicit", "another default", "late"])
  })

  scenario("reads live fields with the state, without a new version", function* ({ register, state }) {
    let read = 0
    yield* register({
      name: "s",
      slice: { url: "u", calls: "none" },
      live: Effect.sync(() => ({ calls: ++read }))
    })
    yield* register({ name: "new", live: Effect.succeed({ is: "here" }) })
    yield* register({ name: "fails", live: Effect.fail("no") })
    yield* register({ name: "dies", live: Effect.die("no") })
    yield* state
    const { _version, plugins } = yield* state
    expect(plugins).toEqual({ s: { url: "u", calls: 2 }, new: { is: "here" } })
    expect(_version).toBe(1)
  })

  scenario("shows the problems in the slice of a plugin without a report", function* ({ register, status }) {
    yield* register({
      name: "lamp",
      slice: { problems: [lamp("error", "The lamp is broken."), "odd"] }
    })
    yield* register({
      name: "door",
      live: Effect.succeed({ problems: [lamp("warning", "The door is open.")] })
    })
    yield* register({ name: "fine", slice: { problems: [] } })
    expect((yield* status).sections).toEqual([
      { name: "lamp", title: "Lamp", rows: [{ type: "text", text: "The lamp is broken.", tone: "error" }] },
      { name: "door", title: "Door", rows: [{ type: "text", text: "The door is open.", tone: "warn" }] }
    ])
  })

  scenario(
    "has the report of a plugin until the plugin stops",
    function* ({ read, register, state, status }) {
      const lit = MetricPair.unsafeMake(MetricKey.gauge("lamps_lit"), MetricState.gauge(2))
      const scope = yield* Scope.make()
      const registering = register({
        name: "lamp",
        slice: { lit: 1 },
        live: Effect.succeed({ broken: 3 }),
        report: (slice, { now, state }) => ({
          sections: [{ name: "lamp", order: 7, title: "Lamp", rows: [text(JSON.stringify(slice))] }],
          problems: [{ code: "lamp:broken", severity: "warning", text: `${state.system.mode} ${now}` }],
          metrics: () => [lit],
          logs: ["lamp:broken"]
        })
      })
      yield* Scope.extend(registering, scope)
      yield* register({ name: "says nothing", report: () => ({}) })
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
      const { plugins, problems } = yield* state
      expect(plugins).toEqual({})
      expect(problems).toMatchObject([{ code: "lamp:broken", unwatched: "stopped" }])
      expect((yield* status).sections).toEqual([])
    }
  )

  scenario("keeps the last report of a plugin whose report throws", function* ({ read, register }) {
    const { update } = yield* register({
      name: "lamp",
      slice: 1,
      report: (slice) => {
        if (slice === 2) throw new Error("no two")
        return { sections: [{ name: "lamp", title: "Lamp", rows: [text("lit")] }] }
      }
    })
    yield* read
    yield* update(() => 2)
    const { problems, sections } = (yield* read).view
    expect(problems).toMatchObject([
      { code: "state:unread", severity: "warning", subject: "lamp", text: expect.stringContaining("no two") }
    ])
    expect(sections[0]?.rows.at(-1)).toEqual(text("lit"))
    yield* update(() => 3)
    expect((yield* read).view.problems).toEqual([])
  })

  it.effect("measures its uptime independently of the system clock", () =>
    withJumpingClock(({ adjust, set }) =>
      Effect.gen(function* () {
        const { status } = yield* ControllerState
        yield* set(-86_400_000)
        yield* adjust("5 seconds")
        expect((yield* status).header).toMatchObject({
          startTime: "1969-12-31T00:00:00.000Z",
          uptimeMs: 5000
        })
      }).pipe(Effect.provide(layer("persistent")))
    )
  )

  it.scoped("has the problems of slices, errors first, with the time of their begin", () =>
    Effect.gen(function* () {
      const { register, state } = yield* ControllerState
      const slow = { code: "lamp:slow", severity: "warning", text: "The lamp is slow." }
      const out = { code: "door:open", severity: "error", subject: "left", text: "The left door is open." }
      expect((yield* state).problems).toEqual([])
      yield* register({ name: "lamp", slice: { problems: [slow] } })
      yield* register({ name: "door", live: Effect.succeed({ problems: [out] }) })
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

  it.scoped("counts how often a problem has begun, whoever reads the state", () =>
    Effect.gen(function* () {
      const { register, state, status } = yield* ControllerState
      const { update } = yield* register<object>({ name: "lamp" })
      const slow = { code: "lamp:slow", severity: "warning", text: "The lamp is slow." }
      for (const problems of [[slow], [], [slow], [slow], []]) {
        yield* update(() => ({ problems }))
        yield* status
      }
      yield* update(() => ({ problems: [slow] }))
      expect((yield* state).problems).toMatchObject([{ count: 3 }])
    }).pipe(Effect.provide(layer("persistent")))
  )

  it.scoped("is made once for all concurrent callers, even if the first caller is interrupted", () =>
    Effect.gen(function* () {
      const { read, register } = yield* ControllerState
      const held = yield* Deferred.make<void>()
      yield* register({ name: "lamp", live: Effect.as(Deferred.await(held), { isOn: true }) })
      const door = yield* register<object>({ name: "door" })
      const first = yield* Effect.fork(read)
      yield* Effect.yieldNow()
      const others = yield* Effect.fork(Effect.all([read, read, read], { concurrency: "unbounded" }))
      yield* Effect.replicateEffect(Effect.yieldNow(), 10)
      yield* door.update(() => ({ isOpen: true }))
      yield* Fiber.interrupt(first)
      yield* Deferred.succeed(held, undefined)
      const [one, ...same] = yield* Fiber.join(others)
      expect(same.every((reading) => reading === one)).toBe(true)
      expect(one.state.plugins).toEqual({ lamp: { isOn: true }, door: { isOpen: true } })
    }).pipe(Effect.provide(layer("persistent")))
  )

  it.scoped("is read although a value of a plugin throws when it is compared", () =>
    Effect.gen(function* () {
      const { read, register } = yield* ControllerState
      const odd = () => ({
        get broken(): never {
          throw new Error("odd")
        }
      })
      yield* register({ name: "odd", live: Effect.sync(() => ({ parts: [odd()] })) })
      yield* read
      expect(Object.keys((yield* read).state.plugins)).toEqual(["odd"])
    }).pipe(Effect.provide(layer("persistent")))
  )

  it.scoped("is used for a second while nothing changes, and made again after each change", () =>
    Effect.gen(function* () {
      const { read, register } = yield* ControllerState
      const words = yield* Ref.make(["on"])
      yield* register({ name: "lamp", live: Effect.map(Ref.get(words), (words) => ({ words: [...words] })) })
      const door = yield* register({ name: "door", slice: { isOpen: false } })
      const first = yield* read
      expect(yield* read).toBe(first)
      const viewAfter = (change: Effect.Effect<void>) => Effect.zipRight(change, read)
      const views = [
        first,
        yield* viewAfter(door.update(() => ({ isOpen: true }))),
        yield* viewAfter(Ref.set(words, ["off"])),
        yield* viewAfter(TestClock.adjust("1 second"))
      ]
      expect(new Set(views).size).toBe(views.length)
      yield* TestClock.adjust("999 millis")
      expect(yield* read).toBe(views.at(-1))
    }).pipe(Effect.provide(layer("persistent")))
  )
})

describe("a plugin whose live fields cannot be read", () => {
  it.scoped.each<{ readonly what: string; readonly hang: Effect.Effect<never> }>([
    { what: "never end", hang: Effect.never },
    { what: "cannot be interrupted", hang: Effect.uninterruptible(Effect.never) }
  ])("keeps what was read last if they $what, and is a problem after ten seconds", ({ hang }) =>
    Effect.gen(function* () {
      const { read, register } = yield* ControllerState
      let isHanging = false
      let reads = 0
      const live = Effect.suspend(() => {
        reads++
        return isHanging ? hang : Effect.succeed({ versionId: "1" })
      })
      yield* register({ name: "content", live, report: reportedContent })
      yield* read
      isHanging = true
      const began = performance.now()
      yield* Effect.uninterruptible(Effect.all([read, read, read, read], { concurrency: "unbounded" }))
      yield* Effect.replicateEffect(read, 3)
      expect(performance.now() - began).toBeLessThan(2000)
      expect(reads).toBe(2)

      const word = (seconds: number) =>
        Effect.zipRight(
          TestClock.adjust(seconds * 1000),
          Effect.map(read, ({ view }) => [view.word, view.contents[0]?.versionId, ...view.problems])
        )
      const text = expect.stringContaining("cannot be read since 1970-01-01T00:00:00.000Z")
      const unread = { code: "state:unread", subject: "content", text }
      expect(yield* word(9)).toEqual(["OK", "1"])
      expect(yield* word(1)).toMatchObject(["WARNING", "1", { ...unread, severity: "warning" }])
      expect(yield* word(50)).toMatchObject(["FAILING", "1", { ...unread, severity: "error" }])
    }).pipe(Effect.provide(layer("persistent")))
  )

  it.scoped("takes a late read when it comes", () =>
    Effect.gen(function* () {
      const { register, state } = yield* ControllerState
      const late = yield* Deferred.make<object>()
      yield* register({ name: "disk", live: Deferred.await(late) })
      expect((yield* state).plugins).toEqual({})
      yield* Deferred.succeed(late, { free: 5 })
      expect((yield* state).plugins).toEqual({ disk: { free: 5 } })
    }).pipe(Effect.provide(layer("persistent")))
  )

  it.scoped("is judged by the time at which they were read", () =>
    Effect.gen(function* () {
      const { read, register } = yield* ControllerState
      let isHanging = false
      yield* register({
        name: "lamp",
        live: Effect.suspend(() => (isHanging ? Effect.never : Effect.succeed({ isLit: true }))),
        report: (_slice, { now }) => ({ sections: [{ name: "lamp", title: "Lamp", rows: [text(`${now}`)] }] })
      })
      yield* read
      isHanging = true
      yield* TestClock.adjust("5 seconds")
      expect((yield* read).view.sections[0]?.rows).toEqual([text("0")])
    }).pipe(Effect.provide(layer("persistent")))
  )

  scenario("misses no screen until its screens were known for 15 s", function* ({ read, register }) {
    const slice = { kind: "content", sources: {}, versionId: "1" }
    const isFast = yield* Deferred.make<void>()
    const codes = Effect.map(read, ({ view }) => view.problems.map(({ code }) => code))
    yield* TestClock.adjust("20 seconds")
    expect(yield* codes).toEqual([])
    yield* register({
      name: "content",
      slice,
      live: Effect.as(Deferred.await(isFast), slice),
      report: reportedContent
    })
    yield* read
    yield* TestClock.adjust("5 seconds")
    expect(yield* codes).toEqual([])
    yield* Deferred.succeed(isFast, undefined)
    yield* read
    yield* TestClock.adjust("14 seconds")
    expect(yield* codes).toEqual([])
    yield* TestClock.adjust("1 second")
    expect(yield* codes).toEqual(["screen:never-seen", "screen:never-seen"])
  })

  it.scoped("misses a screen as soon, although somebody sets the clock back", () =>
    withJumpingClock(({ adjust, set }) =>
      Effect.gen(function* () {
        const { read, register } = yield* ControllerState
        const slice = { kind: "content", sources: {}, versionId: "1" }
        yield* read
        yield* set(7_200_000)
        yield* register({ name: "content", slice, report: reportedContent })
        yield* read
        yield* set(-7_200_000)
        yield* adjust("15 seconds")
        const { problems } = (yield* read).view
        expect(problems.map(({ code }) => code)).toEqual(["screen:never-seen", "screen:never-seen"])
      }).pipe(Effect.provide(layer("persistent", identity)))
    )
  )

  scenario("says why they fail", function* ({ read, register }) {
    yield* register({ name: "lamp", live: Effect.fail(new Error("no answer")) })
    yield* read
    yield* TestClock.adjust("10 seconds")
    expect((yield* read).view.problems).toMatchObject([
      { code: "state:unread", severity: "warning", text: expect.stringContaining("no answer") }
    ])
  })
})
