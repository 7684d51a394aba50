import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"
import * as TestClock from "effect/TestClock"
import { makeInTime, within } from "../../../src/layers/httpClient/waits.ts"

const late = () => "late" as const

/** A clock whose timers do not end, and how many there are. */
const countedTimers = Effect.map(Effect.clock, (clock) => {
  let timers = 0
  const timer = Effect.acquireUseRelease(
    Effect.sync(() => timers++),
    () => Effect.never,
    () => Effect.sync(() => timers--)
  )
  return { clock: Object.assign(Object.create(clock), { sleep: () => timer }), count: () => timers }
})

const steps = Array.from({ length: 60 }, (_, step) => step + 1)

/** Lets other fibers run once, after this many steps of the effect. */
const pausedAt = (step: number) => {
  let steps = 0
  const scheduler = new Scheduler.MixedScheduler(2048)
  return Effect.withScheduler(
    Scheduler.make(
      (task, priority) => scheduler.scheduleTask(task, priority),
      () => (++steps === step ? 0 : false)
    )
  )
}

describe("waits for a server", () => {
  it.effect("each have the whole limit, however many there are, and whenever they begin", () =>
    Effect.gen(function* () {
      const inTime = makeInTime(100)
      const never = Effect.exit(inTime(() => {}, late))
      const first = yield* Effect.fork(never)
      yield* TestClock.adjust(60)
      const second = yield* Effect.fork(never)
      yield* TestClock.adjust(40)
      expect(yield* Fiber.join(first)).toEqual(Exit.fail("late"))
      yield* TestClock.adjust(59)
      expect(second.unsafePoll()).toBeNull()
      yield* TestClock.adjust(1)
      expect(yield* Fiber.join(second)).toEqual(Exit.fail("late"))
    })
  )

  it.effect("have their limit whenever other work comes in between", () =>
    Effect.forEach(steps, (step) =>
      Effect.gen(function* () {
        const wait = Effect.exit(makeInTime(0)(() => {}, late))
        const waiting = yield* Effect.fork(pausedAt(step)(wait))
        yield* Effect.repeatN(Effect.yieldNow(), 20)
        expect([step, waiting.unsafePoll()]).toEqual([step, Exit.succeed(Exit.fail("late"))])
      })
    )
  )

  it.effect("have one timer together, also if they begin at once", () =>
    Effect.forEach(steps, (step) =>
      Effect.gen(function* () {
        const { clock, count } = yield* countedTimers
        const wait = Effect.withClock(
          makeInTime(100)(() => {}, late),
          clock
        )
        yield* Effect.fork(pausedAt(step)(Effect.all([Effect.fork(wait), Effect.fork(wait), Effect.never])))
        yield* Effect.repeatN(Effect.yieldNow(), 20)
        expect([step, count()]).toEqual([step, 1])
      })
    )
  )

  it.effect("leave no timer behind, also if they are interrupted", () =>
    Effect.gen(function* () {
      const { clock, count } = yield* countedTimers
      const inTime = makeInTime(100)
      let resume = () => {}
      const fork = (begin: (end: () => void) => void) =>
        Effect.fork(Effect.withClock(inTime(begin, late), clock))
      const one = yield* fork((end) => {
        resume = end
      })
      const other = yield* fork(() => {})
      yield* Effect.repeat(Effect.yieldNow(), { until: () => count() > 0 })
      resume()
      yield* Fiber.join(one)
      expect(count()).toBe(1)
      yield* Fiber.interrupt(other)
      yield* Effect.repeat(Effect.yieldNow(), { until: () => count() === 0 })
    })
  )
})

it.effect(
  "a request that takes too long has ended when its failure is known, and so has an interrupted one",
  () =>
    Effect.gen(function* () {
      let ended = 0
      const request = Effect.onInterrupt(Effect.never, () =>
        Effect.zipRight(
          Effect.yieldNow(),
          Effect.sync(() => ended++)
        )
      )
      const limited = within(makeInTime(100), late)(request)
      const failing = yield* Effect.fork(Effect.exit(limited))
      yield* TestClock.adjust(100)
      expect(yield* Fiber.join(failing)).toEqual(Exit.fail("late"))
      expect(ended).toBe(1)
      const waiting = yield* Effect.fork(limited)
      yield* TestClock.adjust(1)
      yield* Fiber.interrupt(waiting)
      expect(ended).toBe(2)
    })
)
