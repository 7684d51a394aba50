import { expect, it } from "@effect/vitest"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import { makeLastRead } from "../../../src/layers/documents/pollAnswer.ts"

it.effect("everything is read again an hour after the last time, even if the clock was set back", () =>
  Effect.gen(function* () {
    const hour = Duration.hours(1)
    const { changesSince, isNow } = yield* makeLastRead
    const ask = Effect.map(changesSince(Option.some("same"), "same", hour), ({ changed }) => changed)
    yield* isNow
    expect(yield* ask).toBe("nothing")
    yield* TestClock.adjust(hour)
    const clock = yield* Effect.clock
    const setBack: Clock.Clock = Object.create(clock, { currentTimeMillis: { value: Effect.succeed(0) } })
    expect(yield* Effect.withClock(ask, setBack)).toBe("everything")
    yield* isNow
    expect(yield* ask).toBe("nothing")
  })
)
