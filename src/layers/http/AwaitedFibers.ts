/**
 * Fibers that the end of a scope waits for, so that the resources they use close after them.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"

/** How long fibers may continue after the 300 ms for connections (`Listen.ts`). Then they are interrupted. */
const graceMs = 1200

/** How long interrupted fibers may clean up. */
const cleanUpMs = 300

export type Await = (fiber: Fiber.RuntimeFiber<unknown, unknown>) => void

export const make: Effect.Effect<Await, never, Scope.Scope> = Effect.gen(function* () {
  const fibers = new Set<Fiber.RuntimeFiber<unknown, unknown>>()
  yield* Effect.addFinalizer(() =>
    within(() => Fiber.awaitAll(fibers), graceMs).pipe(
      Effect.zipRight(within(() => Fiber.interruptAll(fibers), cleanUpMs)),
      Effect.withClock(Clock.make())
    )
  )
  return (fiber) => {
    fibers.add(fiber)
    fiber.addObserver(() => fibers.delete(fiber))
  }
})

/** The time limit runs in its own fiber, which can be interrupted; the fiber of the scope may be interrupted already. */
const within = (end: () => Effect.Effect<void>, milliseconds: number) =>
  Effect.timeoutOption(Effect.interruptible(Effect.suspend(end)), milliseconds)
