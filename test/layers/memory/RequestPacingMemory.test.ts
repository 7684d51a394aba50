import { describe, expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { layer } from "../../../src/layers/memory/RequestPacingMemory.ts"
import { type Pacer, RequestPacing } from "../../../src/services/RequestPacing.ts"
import { type Wait, WaitObserver } from "../../../src/services/WaitObserver.ts"

const pacer = Effect.flatMap(RequestPacing, ({ pacer }) => pacer("base", "215 millis"))

/** Forks a request that notes its name and its start. */
const request = (pacer: Pacer, starts: Array<readonly [string, number]>, name: string) =>
  pacer.take.pipe(
    Effect.zipRight(Clock.currentTimeMillis),
    Effect.map((now) => starts.push([name, now])),
    Effect.fork,
    Effect.tap(() => Effect.yieldNow())
  )

const times = (starts: ReadonlyArray<readonly [string, number]>) => starts.map(([, time]) => time)

const names = (starts: ReadonlyArray<readonly [string, number]>) => starts.map(([name]) => name).join("")

/** An action on a pacer, and how long the test waits afterwards. */
interface Step {
  readonly act: "take" | "hold" | "giveUp"
  /** Which request is interrupted, or how long to hold. */
  readonly which: number
  readonly gap: number
}

const step: FastCheck.Arbitrary<Step> = FastCheck.record({
  act: FastCheck.constantFrom("take", "take", "take", "take", "hold", "giveUp"),
  which: FastCheck.nat(12),
  gap: FastCheck.constantFrom(0, 0, 100, 215, 400, 1500)
})

/** The expected starts, computed without a clock. */
const expectedStarts = (steps: ReadonlyArray<Step>): ReadonlyArray<readonly [string, number]> => {
  const starts: Array<readonly [string, number]> = []
  let waiting: ReadonlyArray<number> = []
  let free = 0
  let now = 0
  let takes = 0
  const pass = (until: number) => {
    while (waiting[0] !== undefined && Math.max(free, now) <= until) {
      now = Math.max(free, now)
      starts.push([String(waiting[0]), now])
      waiting = waiting.slice(1)
      free = now + 215
    }
    now = until
  }
  for (const { act, gap, which } of steps) {
    if (act === "take") {
      waiting = [...waiting, takes++]
    } else if (act === "hold") {
      free = Math.max(free, now + which * 300)
    } else {
      waiting = waiting.filter((taker) => taker !== which)
    }
    pass(now + gap)
  }
  pass(Number.POSITIVE_INFINITY)
  return starts
}

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

  it.effect("does not let a request overtake others that are waiting", () =>
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
    "starts requests as early as possible, in order, at most five a second, despite holds and interruptions",
    [FastCheck.array(step, { minLength: 1, maxLength: 25 })],
    ([steps]) =>
      Effect.gen(function* () {
        const starts: Array<readonly [string, number]> = []
        const shared = yield* pacer
        const fibers: Array<Fiber.Fiber<unknown>> = []
        for (const { act, gap, which } of steps) {
          if (act === "take") {
            fibers.push(yield* request(shared, starts, String(fibers.length)))
          } else if (act === "hold") {
            yield* shared.hold(which * 300)
          } else {
            yield* Effect.forEach(fibers.slice(which).slice(0, 1), Fiber.interrupt)
          }
          if (gap > 0) yield* TestClock.adjust(gap)
        }
        yield* TestClock.adjust("1 minute")
        expect(starts).toEqual(expectedStarts(steps))
        for (const [index, time] of times(starts).entries()) {
          expect((times(starts)[index + 5] ?? Number.POSITIVE_INFINITY) - time).toBeGreaterThan(1000)
        }
      }).pipe(Effect.provide(layer)),
    { fastCheck: { numRuns: 20 } }
  )

  it.effect("a hold delays waiting requests, and a shorter one has no effect", () =>
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

  it.effect("an interrupted request does not change the order of the others", () =>
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
    "an interrupted request lets no other overtake an earlier one, with a hold of %i ms",
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

  it.effect("reports until when a request waits, and whether it is paced or held", () =>
    Effect.gen(function* () {
      const told: Array<readonly [string, Wait["reason"], number]> = []
      const shared = yield* pacer
      const watched = (name: string) =>
        Effect.fork(
          Effect.provideService(shared.take, WaitObserver, {
            waiting: ({ millis, reason }) =>
              Effect.map(Clock.currentTimeMillis, (now) => told.push([name, reason, now + millis]))
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

  it.effect("keys have their own pacers", () =>
    Effect.gen(function* () {
      const starts: Array<readonly [string, number]> = []
      const pacing = yield* RequestPacing
      for (const key of ["one", "two", "one"]) {
        yield* request(yield* pacing.pacer(key, "215 millis"), starts, key)
      }
      yield* TestClock.adjust("1 second")
      expect(starts).toEqual([
        ["one", 0],
        ["two", 0],
        ["one", 215]
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("each request of a key is followed by its own interval", () =>
    Effect.gen(function* () {
      const { pacer } = yield* RequestPacing
      const [slow, fast] = [yield* pacer("one", "1 second"), yield* pacer("one", "100 millis")]
      const starts: Array<readonly [string, number]> = []
      yield* Effect.forEach([slow, fast, fast, slow], (pacer) => request(pacer, starts, "one"))
      yield* TestClock.adjust("2 seconds")
      expect(times(starts)).toEqual([0, 1000, 1100, 1200])
    }).pipe(Effect.provide(layer))
  )
})
