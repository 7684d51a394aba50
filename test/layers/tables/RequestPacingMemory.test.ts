import { describe, expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { layer } from "../../../src/layers/tables/RequestPacingMemory.ts"
import { type Pacer, RequestPacing } from "../../../src/services/RequestPacing.ts"
import { type Wait, WaitObserver } from "../../../src/services/WaitObserver.ts"

const pacer = Effect.flatMap(RequestPacing, ({ pacer }) => pacer("base"))

/** Forks a request that notes its name and when it started. */
const request = (pacer: Pacer, starts: Array<readonly [string, number]>, name: string) =>
  pacer.take.pipe(
    Effect.zipRight(Clock.currentTimeMillis),
    Effect.map((now) => starts.push([name, now])),
    Effect.fork,
    Effect.tap(() => Effect.yieldNow())
  )

const times = (starts: ReadonlyArray<readonly [string, number]>) => starts.map(([, time]) => time)

const names = (starts: ReadonlyArray<readonly [string, number]>) => starts.map(([name]) => name).join("")

describe("RequestPacingMemory", () => {
  it.effect("starts requests 215 ms apart, the first at once, in order", () =>
    Effect.gen(function* () {
      const starts: Array<readonly [string, number]> = []
      const shared = yield* pacer
      for (const name of "abcd") {
        yield* request(shared, starts, name)
      }
      yield* TestClock.adjust("5 seconds")
      expect(names(starts)).toBe("abcd")
      expect(times(starts)).toEqual([0, 215, 430, 645])
    }).pipe(Effect.provide(layer))
  )

  it.effect("lets nobody pass who comes back before the others have started", () =>
    Effect.gen(function* () {
      const starts: Array<readonly [string, number]> = []
      const shared = yield* pacer
      const takeAgain = Effect.zipRight(
        shared.take,
        Effect.sync(() => starts.push(["a", 0]))
      )
      yield* Effect.fork(Effect.repeatN(takeAgain, 2))
      yield* Effect.yieldNow()
      for (const name of "bcd") {
        yield* request(shared, starts, name)
      }
      yield* TestClock.adjust("5 seconds")
      expect(names(starts)).toBe("aabcda")
    }).pipe(Effect.provide(layer))
  )

  it.effect.prop(
    "never starts more than five within a second, whenever they come, and holds everyone",
    [
      FastCheck.array(FastCheck.integer({ min: 0, max: 1500 }), { minLength: 1, maxLength: 30 }),
      FastCheck.option(FastCheck.integer({ min: 0, max: 20 }))
    ],
    ([gaps, holdAfter]) =>
      Effect.gen(function* () {
        const starts: Array<readonly [string, number]> = []
        const shared = yield* pacer
        let heldFrom = Number.POSITIVE_INFINITY
        for (const [index, gap] of gaps.entries()) {
          yield* request(shared, starts, String(index))
          if (index === holdAfter) {
            heldFrom = yield* Clock.currentTimeMillis
            yield* shared.hold("30 seconds")
          }
          yield* TestClock.adjust(gap % 400)
        }
        yield* TestClock.adjust("1 minute")
        const at = times(starts)
        expect(at).toHaveLength(gaps.length)
        expect(at.filter((time) => time > heldFrom && time < heldFrom + 30_000)).toEqual([])
        for (const [index, time] of at.entries()) {
          expect((at[index + 5] ?? Number.POSITIVE_INFINITY) - time).toBeGreaterThan(1000)
        }
      }).pipe(Effect.provide(layer)),
    { fastCheck: { numRuns: 20 } }
  )

  it.effect("a hold moves those who wait already, and a shorter one changes nothing", () =>
    Effect.gen(function* () {
      const starts: Array<readonly [string, number]> = []
      const shared = yield* pacer
      for (const name of "abc") {
        yield* request(shared, starts, name)
      }
      yield* TestClock.adjust("100 millis")
      yield* shared.hold("30 seconds")
      yield* shared.hold("1 second")
      yield* TestClock.adjust("1 minute")
      expect(times(starts)).toEqual([0, 30_100, 30_315])
    }).pipe(Effect.provide(layer))
  )

  it.effect("somebody who gives up leaves the others in their places", () =>
    Effect.gen(function* () {
      const starts: Array<readonly [string, number]> = []
      const shared = yield* pacer
      yield* request(shared, starts, "a")
      const sleeping = yield* request(shared, starts, "b")
      const queued = yield* request(shared, starts, "c")
      const queuedToo = yield* request(shared, starts, "d")
      yield* request(shared, starts, "e")
      yield* request(shared, starts, "f")
      yield* Fiber.interrupt(queuedToo)
      yield* Fiber.interrupt(queued)
      yield* TestClock.adjust("100 millis")
      yield* Fiber.interrupt(sleeping)
      yield* TestClock.adjust("5 seconds")
      expect(names(starts)).toBe("aef")
      expect(times(starts)).toEqual([0, 215, 430])
    }).pipe(Effect.provide(layer))
  )

  it.effect.each([0, 30_000])(
    "who gives up lets nobody pass who waits longer, held for %i ms or not",
    (held) =>
      Effect.gen(function* () {
        const starts: Array<readonly [string, number]> = []
        const shared = yield* pacer
        yield* request(shared, starts, "a")
        yield* request(shared, starts, "b")
        const queued = yield* request(shared, starts, "c")
        yield* request(shared, starts, "d")
        yield* shared.hold(held)
        yield* TestClock.adjust("100 millis")
        yield* Fiber.interrupt(queued)
        yield* TestClock.adjust("1 minute")
        expect(names(starts)).toBe("abd")
      }).pipe(Effect.provide(layer))
  )

  it.effect("tells who waits until when, and whether for its turn or for a penalty", () =>
    Effect.gen(function* () {
      const told: Array<readonly [string, Wait["reason"], number]> = []
      const shared = yield* pacer
      const watched = (name: string) =>
        Effect.fork(
          Effect.provideService(shared.take, WaitObserver, {
            waiting: ({ reason, until }) => Effect.sync(() => told.push([name, reason, until]))
          })
        ).pipe(Effect.tap(() => Effect.yieldNow()))
      yield* watched("a")
      yield* watched("b")
      yield* watched("c")
      yield* TestClock.adjust("215 millis")
      yield* shared.hold("30 seconds")
      yield* TestClock.adjust("1 minute")
      yield* watched("d")
      expect(told).toEqual([
        ["b", "pacing", 215],
        ["c", "pacing", 215],
        ["c", "pacing", 430],
        ["c", "penalty", 30_215]
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("keys have pacers of their own", () =>
    Effect.gen(function* () {
      const starts: Array<readonly [string, number]> = []
      const pacing = yield* RequestPacing
      for (const key of ["one", "two", "one"]) {
        yield* request(yield* pacing.pacer(key), starts, key)
      }
      yield* TestClock.adjust("1 second")
      expect(starts).toEqual([
        ["one", 0],
        ["two", 0],
        ["one", 215]
      ])
    }).pipe(Effect.provide(layer))
  )
})
