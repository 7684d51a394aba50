import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { type Fetches, fetch, poll } from "../../src/internal/Schedules.ts"

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
