import { describe, expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { makeSteadyNow } from "../../src/internal/monotonicMillis.ts"

/** Clocks that stand at these times, in milliseconds. */
const at = (wall: number, monotonic: number): Clock.Clock => ({
  ...Clock.make(),
  unsafeCurrentTimeMillis: () => Math.floor(wall),
  currentTimeMillis: Effect.succeed(Math.floor(wall)),
  unsafeCurrentTimeNanos: () => BigInt(Math.floor(monotonic * 1e6)),
  currentTimeNanos: Effect.succeed(BigInt(Math.floor(monotonic * 1e6)))
})

describe("two clocks", () => {
  it.effect("are read at the same distance, until somebody sets the time of day", () =>
    Effect.gen(function* () {
      const steadyNow = makeSteadyNow()
      const distanceAt = (wall: number, monotonic: number) =>
        Effect.map(
          Effect.withClock(steadyNow, at(wall, monotonic)),
          ({ monotonic, wall }) => wall - monotonic
        )
      expect(yield* distanceAt(1000.2, 0.7)).toBe(1000)
      expect(yield* distanceAt(1000.6, 1.1)).toBe(1000)
      expect(yield* distanceAt(1001.1, 1.6)).toBe(1000)
      expect(yield* distanceAt(4601.1, 2.6)).toBe(4599)
      expect(yield* distanceAt(1002.1, 3.6)).toBe(999)
    })
  )
})
