import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { singleFlight } from "../../src/internal/background.ts"

describe("work that runs once at a time", () => {
  it.effect("is interrupted with its scope even if its caller cannot be", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const once = yield* singleFlight<never, never>(scope)
      const begun = yield* Deferred.make<void>()
      const asked = yield* Effect.fork(
        Effect.uninterruptible(once(Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never)))
      )
      yield* Deferred.await(begun)
      yield* Scope.close(scope, Exit.void)
      expect(Exit.isInterrupted(yield* Fiber.await(asked))).toBe(true)
    })
  )

  it.effect("is joined by the next caller, wherever the caller before stopped waiting", () =>
    Effect.scoped(
      Effect.gen(function* () {
        // The caller stops waiting after so many steps of its fiber, and turns of the others.
        for (let step = 0; step < 200; step++) {
          const [ops, turns] = [12 + (step % 40), 1 + Math.floor(step / 40)]
          let runs = 0
          const once = yield* singleFlight<number, never>(yield* Effect.scope)
          const end = yield* Deferred.make<void>()
          const work = Effect.suspend(() => {
            runs++
            return Effect.as(Deferred.await(end), runs)
          })
          const first = yield* Effect.fork(Effect.withMaxOpsBeforeYield(once(work), ops))
          yield* Effect.repeatN(Effect.yieldNow(), turns)
          yield* Fiber.interrupt(first)
          const next = yield* Effect.fork(once(work))
          yield* Effect.yieldNow()
          yield* Deferred.succeed(end, undefined)
          expect(yield* Fiber.join(next)).toBe(1)
          expect(runs).toBe(1)
        }
      })
    )
  )
})
