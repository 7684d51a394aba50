/**
 * Fibers that the end of a scope waits for, so that what they use ends after them.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"

/** How long they may run on, once connections had their 300 ms (`listen.ts`). Then they are interrupted. */
const graceMs = 1200

/** How long they may clean up. */
const cleanUpMs = 300

export type Await = (fiber: Fiber.RuntimeFiber<unknown, unknown>) => void

export const make: Effect.Effect<Await, never, Scope.Scope> = Effect.gen(function* () {
  const fibers = new Set<Fiber.RuntimeFiber<unknown, unknown>>()
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => Fiber.awaitAll(fibers)).pipe(
      Effect.timeoutOption(graceMs),
      Effect.zipRight(
        Effect.timeoutOption(
          Effect.suspend(() => Fiber.interruptAll(fibers)),
          cleanUpMs
        )
      ),
      Effect.interruptible,
      Effect.withClock(Clock.make())
    )
  )
  return (fiber) => {
    fibers.add(fiber)
    fiber.addObserver(() => fibers.delete(fiber))
  }
})
