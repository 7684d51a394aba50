import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import {
  makeTraffic,
  maxBytes,
  maxCommands,
  maxEvents,
  type Waits
} from "../../../src/layers/nats/traffic.ts"

/** Starts an effect that waits until it is interrupted. */
const begin = (waits: Waits) => Effect.tap(Effect.fork(waits(Effect.never)), () => Effect.yieldNow())

const isRefused = (waits: Waits) => Effect.isFailure(waits(Effect.void))

describe("messages that wait for NATS", () => {
  it.effect("are limited in number", () =>
    Effect.gen(function* () {
      const { now, withEvent } = yield* makeTraffic
      const first = yield* begin(withEvent(1))
      yield* Effect.replicateEffect(begin(withEvent(1)), maxEvents - 1, { discard: true })
      expect(yield* isRefused(withEvent(1))).toBe(true)
      expect((yield* now).waiting.events).toBe(maxEvents)
      yield* Fiber.interrupt(first)
      expect(yield* isRefused(withEvent(1))).toBe(false)
    })
  )

  it.effect("are limited in bytes, except for a single event", () =>
    Effect.gen(function* () {
      const { withEvent } = yield* makeTraffic
      const large = yield* begin(withEvent(2 * maxBytes))
      expect(yield* isRefused(withEvent(1))).toBe(true)
      yield* Fiber.interrupt(large)
      yield* begin(withEvent(maxBytes - 1))
      expect(yield* isRefused(withEvent(1))).toBe(false)
      expect(yield* isRefused(withEvent(2))).toBe(true)
    })
  )

  it.effect("are limited in commands", () =>
    Effect.gen(function* () {
      const { withCommand } = yield* makeTraffic
      const first = yield* begin(withCommand)
      yield* Effect.replicateEffect(begin(withCommand), maxCommands - 1, { discard: true })
      expect(yield* isRefused(withCommand)).toBe(true)
      yield* Fiber.interrupt(first)
      expect(yield* isRefused(withCommand)).toBe(false)
    })
  )

  it.effect("are counted if they could not be published, with the last reason", () =>
    Effect.gen(function* () {
      const { failed, now } = yield* makeTraffic
      yield* failed("the first")
      yield* TestClock.adjust(2)
      yield* failed("the last")
      expect(yield* now).toMatchObject({
        failures: 2,
        lastFailure: { at: "1970-01-01T00:00:00.002Z", reason: "the last" }
      })
    })
  )
})
