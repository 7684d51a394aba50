import { expect, it } from "@effect/vitest"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import { makeLastRead } from "../../../src/layers/documents/sourceAnswers.ts"

it.effect("what was read last gets old while the clock is set back", () =>
  Effect.gen(function* () {
    const hour = Duration.hours(1)
    const { isNow, isWithin } = yield* makeLastRead
    yield* isNow
    expect(yield* isWithin(hour)).toBe(true)
    yield* TestClock.adjust(hour)
    const clock = yield* Effect.clock
    const setBack: Clock.Clock = Object.create(clock, { currentTimeMillis: { value: Effect.succeed(0) } })
    expect(yield* Effect.withClock(isWithin(hour), setBack)).toBe(false)
  })
)
