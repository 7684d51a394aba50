import { expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import * as DownloadPace from "../../../src/layers/httpClient/DownloadPace.ts"

const minute = 60_000
const enoughForAMinute = 60 * DownloadPace.leastThroughput

/** A pace that is watched; what comes is given with the milliseconds before it. */
const watched = (maxTimeout: number) =>
  Effect.gen(function* () {
    const pace = DownloadPace.make(yield* Effect.clock, maxTimeout)
    const slow = yield* Deferred.make<DownloadPace.TooSlow>()
    yield* DownloadPace.makeWatch(maxTimeout).begin(pace, (tooSlow) =>
      Effect.asVoid(Deferred.succeed(slow, tooSlow))
    )
    yield* Effect.yieldNow()
    const after = (millis: number, bytes: number) =>
      Effect.zipRight(
        TestClock.adjust(millis),
        Effect.sync(() => {
          pace.came(bytes)
          pace.waits()
        })
      )
    const isGoingOn = Effect.negate(Deferred.isDone(slow))
    return { after, isGoingOn, pace, classifyStatus: Deferred.await(slow) }
  })

it.effect("ends a download that is silent for its timeout", () =>
  Effect.gen(function* () {
    const { after, isGoingOn, classifyStatus } = yield* watched(10_000)
    yield* after(9999, 1)
    yield* TestClock.adjust(9999)
    expect(yield* isGoingOn).toBe(true)
    yield* TestClock.adjust(1)
    expect(yield* classifyStatus).toEqual({ reason: "Silence", millis: 10_000 })
  })
)

it.effect("ends a download that brings less than the least throughput over a minute", () =>
  Effect.gen(function* () {
    const { after, isGoingOn, classifyStatus } = yield* watched(10_000)
    for (let seconds = 0; seconds < 55; seconds += 5) {
      yield* after(5000, 1)
    }
    yield* TestClock.adjust(4999)
    expect(yield* isGoingOn).toBe(true)
    yield* TestClock.adjust(1)
    expect(yield* classifyStatus).toEqual({ reason: "Trickle", bytes: 11, millis: minute })
  })
)

it.effect("starts a new window when enough for a whole one has arrived", () =>
  Effect.gen(function* () {
    const { after, isGoingOn, classifyStatus } = yield* watched(minute)
    for (let windows = 0; windows < 10; windows++) {
      yield* after(1, enoughForAMinute - 1)
      yield* after(minute - 2, 1)
    }
    expect(yield* isGoingOn).toBe(true)
    yield* after(1, enoughForAMinute - 1)
    yield* TestClock.adjust(minute - 1)
    expect(yield* classifyStatus).toEqual({ reason: "Trickle", bytes: enoughForAMinute - 1, millis: minute })
  })
)

it.effect("allows every pause that the timeout allows", () =>
  Effect.gen(function* () {
    const { after, isGoingOn } = yield* watched(5 * minute)
    yield* after(5 * minute - 1, 5 * enoughForAMinute)
    yield* TestClock.adjust(5 * minute - 1)
    expect(yield* isGoingOn).toBe(true)
  })
)

it.effect("does not count the time of writing to disk", () =>
  Effect.gen(function* () {
    const { isGoingOn, pace } = yield* watched(minute)
    yield* TestClock.adjust(minute - 1)
    pace.came(1)
    yield* TestClock.adjust(5 * minute)
    expect(yield* isGoingOn).toBe(true)
    pace.waits()
    expect(yield* isGoingOn).toBe(true)
    yield* TestClock.adjust(1000)
    expect(yield* isGoingOn).toBe(false)
  })
)
