/**
 * Work that outlives its callers: it runs once for all of them, and belongs to the span of none.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberRef from "effect/FiberRef"
import type * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"

/**
 * Runs effects in the given scope, one at a time. A run goes on if its callers stop waiting, and is interruptible even if
 * a caller is not.
 */
export const singleFlight = <A, E>(scope: Scope.Scope) =>
  Effect.sync(() => {
    let latest: Deferred.Deferred<A, E> | undefined
    // A run counts from here on, before its fiber exists: another caller may run in between.
    const begin = <R>(effect: Effect.Effect<A, E, R>) => {
      const run = Deferred.unsafeMake<A, E>(FiberId.none)
      latest = run
      return Effect.map(Effect.forkIn(Effect.interruptible(effect), scope), (fiber) => {
        fiber.addObserver((exit) => {
          if (latest === run) latest = undefined
          Deferred.unsafeDone(run, exit)
        })
        return run
      })
    }

    const join = <R>(
      choose: () => Effect.Effect<Deferred.Deferred<A, E>, never, R>
    ): Effect.Effect<A, E, R> =>
      Effect.flatMap(Effect.uninterruptible(Effect.suspend(choose)), Deferred.await)

    return {
      /** Runs the effect; during a run, gives the result of that run instead. */
      once: <R>(effect: Effect.Effect<A, E, R>) =>
        join<R>(() => (latest === undefined ? begin(effect) : Effect.succeed(latest))),

      /** Runs the effect, after the runs that began before. */
      after: <R>(effect: Effect.Effect<A, E, R>) =>
        join<R>(() =>
          begin(latest === undefined ? effect : Effect.zipRight(Effect.exit(Deferred.await(latest)), effect))
        )
    }
  })

/**
 * Runs the effect in no span: its traces begin on their own, and services that it captures for later work are without
 * the span, too. Otherwise long-lived work would be reported as a part of this span for months.
 */
export const withoutParentSpan: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> =
  Effect.locallyWith(FiberRef.currentContext, Context.omit(Tracer.ParentSpan))

/** Runs a setup. If it fails, everything that it has opened closes at once, and not with the scope of the caller. */
export const closedIfFailed = <A, E, R>(
  setup: Effect.Effect<A, E, R>
): Effect.Effect<A, E, Exclude<R, Scope.Scope> | Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
      return yield* Effect.onError(restore(Scope.extend(setup, scope)), (cause) =>
        Scope.close(scope, Exit.failCause(cause))
      )
    })
  )

/**
 * Waits for the end of the effect, but not longer than the duration: `None` if it then still runs, in the background, until its
 * interruption is complete. Also limits an effect in a finalizer, which cannot be interrupted.
 */
export const endWithin =
  (duration: Duration.DurationInput) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<Option.Option<A>, E, R> =>
    effect.pipe(Effect.disconnect, Effect.interruptible, Effect.timeoutOption(duration))

/** How long fibers may continue after the end of their scope has begun, in milliseconds. Then they are interrupted. */
const graceMs = 1200

/** How long interrupted fibers may clean up. */
const cleanUpMs = 300

/** Fibers that run. The end of the scope waits for those that were added, so that what they use closes later. */
export const makeAwaitEnd = Effect.gen(function* () {
  const fibers = new Set<Fiber.RuntimeFiber<unknown, unknown>>()
  yield* Effect.addFinalizer(() =>
    endWithin(graceMs)(Effect.suspend(() => Fiber.awaitAll(fibers))).pipe(
      Effect.zipRight(endWithin(cleanUpMs)(Effect.suspend(() => Fiber.interruptAll(fibers)))),
      Effect.withClock(Clock.make())
    )
  )
  return {
    add: (fiber: Fiber.RuntimeFiber<unknown, unknown>): void => {
      fibers.add(fiber)
      fiber.addObserver(() => fibers.delete(fiber))
    },
    count: (): number => fibers.size
  }
})

export type AwaitEnd = Effect.Effect.Success<typeof makeAwaitEnd>
