import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as HashMap from "effect/HashMap"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as TestClock from "effect/TestClock"
import {
  endedBy,
  type Fetches,
  fetch,
  folderPause,
  poll,
  retryBy,
  withTimeout
} from "../../src/internal/Schedules.ts"

/** The pauses after fetches that fail or succeed, in seconds. */
const pauses = (schedule: Fetches, failed: ReadonlyArray<boolean>) =>
  Effect.map(Schedule.run(Schedule.delays(schedule), 0, failed), (pauses) =>
    Chunk.toReadonlyArray(pauses).map(Duration.toSeconds)
  )

const failures = (count: number) => Array.from({ length: count }, () => true)

describe("the pause after a fetch", () => {
  const pausesOf = (failed: ReadonlyArray<boolean>, every?: Duration.DurationInput) =>
    pauses(fetch(Option.fromNullable(every)), failed)

  it.effect("is the configured pause after a success or a permanent failure", () =>
    Effect.gen(function* () {
      expect(yield* pausesOf([false, false], "7 hours")).toEqual([25_200, 25_200])
      expect(yield* pausesOf([true, true, false, true], "1 hour")).toEqual([15, 30, 3600, 15])
      // The last pause is missing: the schedule has ended.
      expect(yield* pausesOf([false])).toEqual([0])
      expect(yield* Effect.map(Schedule.run(fetch(Option.none()), 0, [true, false, true]), Chunk.size)).toBe(
        2
      )
    })
  )

  it.effect("doubles from 15 seconds to 5 minutes by default", () =>
    Effect.gen(function* () {
      expect(yield* pausesOf(failures(7))).toEqual([15, 30, 60, 120, 240, 300, 300])
      expect((yield* pausesOf(failures(5000))).at(-1)).toBe(300)
    })
  )

  it.effect("is never longer than the configured pause", () =>
    Effect.gen(function* () {
      expect(yield* pausesOf(failures(4), "50 seconds")).toEqual([15, 30, 50, 50])
      expect(yield* pausesOf(failures(2), "1 second")).toEqual([1, 1])
      expect((yield* pausesOf(failures(12), "2 hours")).slice(8)).toEqual([3840, 7200, 7200, 7200])
    })
  )
})

describe("the pause before a folder whose fetch failed is fetched again", () => {
  it("doubles from a minute to an hour", () => {
    const minutes = [1, 2, 3, 4, 5, 6, 7, 8, 5000].map((inRow) => Duration.toMinutes(folderPause(inRow)))
    expect(minutes).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60])
  })
})

describe("the pause before the next poll", () => {
  it.effect.prop(
    "doubles with each failure up to a minute, less a fifth at most",
    { pollEvery: FastCheck.integer({ min: 1, max: 7200 }), count: FastCheck.nat({ max: 300 }) },
    ({ count, pollEvery }) =>
      Effect.gen(function* () {
        const longest = Math.max(pollEvery, Math.min(pollEvery * 2 ** count, 60))
        const failed = count === 0 ? [false] : failures(count)
        const pause = (yield* pauses(poll(Duration.seconds(pollEvery)), failed)).at(-1)
        expect(pause).toBeGreaterThanOrEqual(longest * 0.8)
        expect(pause).toBeLessThanOrEqual(longest)
      })
  )

  it.effect("is random", () =>
    Effect.gen(function* () {
      const each = yield* pauses(poll("5 seconds"), new Array<boolean>(100).fill(false))
      expect(new Set(each).size).toBeGreaterThan(75)
      expect(Math.max(...each) - Math.min(...each)).toBeGreaterThan(0.75)
    })
  )
})

describe("work with a limit of time", () => {
  /** Work that uses something, and what happens to both. */
  const begin = (limit: <A>(work: Effect.Effect<A>) => Effect.Effect<A, string>) =>
    Effect.gen(function* () {
      const seen = yield* Ref.make<ReadonlyArray<string>>([])
      const note = (what: string) => Ref.update(seen, (before) => [...before, what])
      const begun = yield* Deferred.make<void>()
      const work = Deferred.succeed(begun, undefined).pipe(
        Effect.zipRight(Effect.never),
        // An end takes some turns, such as that of a process.
        Effect.onInterrupt(() => Effect.zipRight(Effect.repeatN(Effect.yieldNow(), 20), note("work ended")))
      )
      const using = Effect.acquireUseRelease(
        Effect.void,
        () => limit(work),
        () => note("given back")
      )
      return { begun: Deferred.await(begun), seen: Ref.get(seen), using }
    })
  const inOrder = ["work ended", "given back"]
  const limited = withTimeout("1 hour", () => "too long")

  it.effect("ends before what it uses is given back, if its caller is interrupted", () =>
    Effect.gen(function* () {
      const { begun, seen, using } = yield* begin(limited)
      const caller = yield* Effect.fork(using)
      yield* begun
      yield* Fiber.interrupt(caller)
      expect(yield* seen).toEqual(inOrder)
    })
  )

  it.effect("ends before what it uses is given back, and at once, if work beside it fails", () =>
    Effect.gen(function* () {
      const { begun, seen, using } = yield* begin(limited)
      const both = [using, Effect.zipRight(begun, Effect.fail("broken"))]
      const failure = yield* Effect.flip(Effect.all(both, { concurrency: "unbounded", discard: true }))
      expect([failure, ...(yield* seen)]).toEqual(["broken", ...inOrder])
    })
  )

  it.effect(
    "ends before what it uses is given back, if it takes too long or is ended by something else",
    () =>
      Effect.gen(function* () {
        const late = yield* begin(limited)
        const caller = yield* Effect.fork(Effect.flip(late.using))
        yield* late.begun
        yield* TestClock.adjust("1 hour")
        expect([yield* Fiber.join(caller), ...(yield* late.seen)]).toEqual(["too long", ...inOrder])

        const ended = yield* begin(endedBy(Effect.fail("over")))
        expect([yield* Effect.flip(ended.using), ...(yield* ended.seen)]).toEqual(["over", ...inOrder])
      })
  )

  it.effect("is not interrupted where its caller cannot be interrupted", () =>
    Effect.gen(function* () {
      const go = yield* Deferred.make<void>()
      const begun = yield* Deferred.make<void>()
      const work = Deferred.succeed(begun, undefined).pipe(Effect.zipRight(Deferred.await(go)))
      const isDone = yield* Ref.make(false)
      const caller = yield* Effect.fork(
        Effect.uninterruptible(Effect.zipRight(limited(work), Ref.set(isDone, true)))
      )
      yield* Deferred.await(begun)
      yield* Fiber.interruptFork(caller)
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.await(caller)
      expect(yield* Ref.get(isDone)).toBe(true)
    })
  )

  it.scoped("keeps the scope of its caller, its result and its failure", () =>
    Effect.gen(function* () {
      const isOpen = yield* Ref.make(false)
      const open = Effect.acquireRelease(Ref.set(isOpen, true), () => Ref.set(isOpen, false))
      expect(yield* limited(Effect.as(open, 1))).toBe(1)
      expect(yield* Ref.get(isOpen)).toBe(true)
      expect(yield* Effect.exit(limited(Effect.fail("wrong")))).toEqual(Exit.fail("wrong"))
    })
  )
})

describe("a retry", () => {
  it.effect(
    "gives its annotations to what is logged about it, and makes no further attempt than the schedule",
    () =>
      Effect.gen(function* () {
        const names: Array<unknown> = []
        const logger = Logger.make(({ annotations }) => {
          names.push(Option.getOrUndefined(HashMap.get(annotations, "file")))
        })
        const attempts = yield* Ref.make(0)
        const attempt = Effect.zipRight(
          Ref.update(attempts, (count) => count + 1),
          Effect.fail("gone")
        )
        const schedule = Schedule.tapInput(Schedule.recurs(2), () => Effect.log("again"))
        const exit = yield* retryBy(attempt, schedule, { file: "a.jpg" }).pipe(
          Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
          Effect.exit
        )
        expect(exit).toEqual(Exit.fail("gone"))
        expect(yield* Ref.get(attempts)).toBe(3)
        expect(names).toEqual(["a.jpg", "a.jpg", "a.jpg"])
      })
  )
})
