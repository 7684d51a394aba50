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
      const { once } = yield* singleFlight<never, never>(scope)
      const begun = yield* Deferred.make<void>()
      const asked = yield* Effect.fork(
        Effect.uninterruptible(once(Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never)))
      )
      yield* Deferred.await(begun)
      yield* Scope.close(scope, Exit.void)
      expect(Exit.isInterrupted(yield* Fiber.await(asked))).toBe(true)
    })
  )

  it.effect("runs once more for a caller that needs a run of its own, after the running one", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { after: afterRun, once } = yield* singleFlight<string, never>(yield* Effect.scope)
        const log: Array<string> = []
        const ends = yield* Effect.all({ first: Deferred.make<void>(), second: Deferred.make<void>() })
        const work = (name: "first" | "second") =>
          Effect.gen(function* () {
            log.push(`${name} begins`)
            yield* Deferred.await(ends[name])
            log.push(`${name} ends`)
            return name
          })
        const first = yield* Effect.fork(once(work("first")))
        yield* Effect.yieldNow()
        const gone = yield* Effect.fork(afterRun(work("second")))
        yield* Effect.yieldNow()
        yield* Fiber.interruptAll([first, gone])
        const joined = yield* Effect.fork(once(Effect.succeed("a run beside it")))
        yield* Effect.yieldNow()
        expect(log).toEqual(["first begins"])
        yield* Deferred.succeed(ends.first, undefined)
        yield* Effect.repeatN(Effect.yieldNow(), 3)
        const late = yield* Effect.fork(once(Effect.succeed("a run beside it")))
        yield* Effect.yieldNow()
        yield* Deferred.succeed(ends.second, undefined)
        expect(yield* Fiber.join(Fiber.zip(joined, late))).toEqual(["second", "second"])
        expect(log).toEqual(["first begins", "first ends", "second begins", "second ends"])
        expect(yield* afterRun(Effect.succeed("third"))).toBe("third")
        expect(yield* once(Effect.succeed("fourth"))).toBe("fourth")
      })
    )
  )

  it.effect("is joined by the next caller, wherever the caller before stopped waiting", () =>
    Effect.scoped(
      Effect.gen(function* () {
        // The caller stops waiting after so many steps of its fiber, and turns of the others.
        for (let step = 0; step < 200; step++) {
          const [ops, turns] = [12 + (step % 40), 1 + Math.floor(step / 40)]
          let runs = 0
          const { once } = yield* singleFlight<number, never>(yield* Effect.scope)
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
