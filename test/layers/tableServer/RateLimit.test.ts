import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import * as RateLimit from "../../../src/layers/tableServer/RateLimit.ts"

const times = (count: number, take: Effect.Effect<void, unknown>) => Effect.replicateEffect(take, count)

describe("RateLimit", () => {
  it.effect("lets five requests a second pass, for as long as one likes", () =>
    Effect.gen(function* () {
      const take = yield* RateLimit.make
      yield* Effect.replicateEffect(Effect.zipRight(times(5, take("app")), TestClock.adjust("1 second")), 20)
    })
  )

  it.effect("refuses everything for 30 seconds after the sixth, and no longer", () =>
    Effect.gen(function* () {
      const take = yield* RateLimit.make
      yield* times(3, take("app"))
      yield* TestClock.adjust("999 millis")
      yield* times(2, take("app"))
      const refused = yield* Effect.flip(take("app"))
      assert.strictEqual(refused.status, 429)
      assert.match(
        JSON.stringify(refused.body),
        /^{"errors":\[{"error":"RATE_LIMIT_REACHED","message":".*30 seconds/
      )
      yield* TestClock.adjust("29999 millis")
      yield* Effect.flip(take("app"))
      yield* TestClock.adjust("1 millis")
      yield* times(5, take("app"))
      yield* Effect.flip(take("app"))
    })
  )

  it.effect("counts each base by itself", () =>
    Effect.gen(function* () {
      const take = yield* RateLimit.make
      yield* times(5, take("one"))
      yield* times(5, take("two"))
      yield* Effect.flip(take("one"))
      yield* Effect.flip(take("two"))
    })
  )
})
