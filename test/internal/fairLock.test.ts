import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { makeFairLock } from "../../src/internal/fairLock.ts"

describe("a fair lock", () => {
  it.effect("is handed on in the order in which it was asked for", () =>
    Effect.gen(function* () {
      const lock = makeFairLock()
      const entered: Array<string> = []
      const enter = (name: string) =>
        lock(
          Effect.zipRight(
            Effect.yieldNow(),
            Effect.sync(() => entered.push(name))
          )
        )
      const greedy = Effect.zipRight(enter("first"), enter("first again"))
      yield* Effect.all([greedy, enter("second"), enter("third")], { concurrency: "unbounded" })
      expect(entered).toEqual(["first", "second", "third", "first again"])
    })
  )

  it.effect("is never held by two, whoever fails or is interrupted meanwhile", () =>
    Effect.gen(function* () {
      const lock = makeFairLock()
      const release = yield* Deferred.make<void>()
      let holders = 0
      const hold = <A, E>(effect: Effect.Effect<A, E>) =>
        lock(
          Effect.acquireUseRelease(
            Effect.sync(() => expect(++holders).toBe(1)),
            () => effect,
            () => Effect.sync(() => holders--)
          )
        )
      const first = yield* Effect.fork(hold(Deferred.await(release)))
      yield* Effect.yieldNow()
      const [waiting, failing, last] = yield* Effect.all([
        Effect.fork(hold(Effect.void)),
        Effect.fork(Effect.flip(hold(Effect.fail("failed")))),
        Effect.fork(hold(Effect.succeed("entered")))
      ])
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(waiting)
      expect(yield* Fiber.poll(last)).toMatchObject({ _tag: "None" })
      yield* Deferred.succeed(release, undefined)
      expect(yield* Fiber.join(failing)).toBe("failed")
      expect(yield* Fiber.join(last)).toBe("entered")
      yield* Fiber.join(first)
    })
  )
})
