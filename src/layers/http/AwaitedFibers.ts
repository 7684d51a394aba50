/**
 * Fibers that the end of a scope waits for, so that what they use ends after them.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"

/** How long they may run on, once connections had their 300 ms (`Listen.ts`). Then they are interrupted. */
const graceMs = 1200

/** How long they may clean up. */
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

/** The time limit has a fiber of its own, which can be interrupted; that of the scope may be interrupted already. */
const within = (end: () => Effect.Effect<void>, milliseconds: number) =>
  Effect.timeoutOption(Effect.interruptible(Effect.suspend(end)), milliseconds)
