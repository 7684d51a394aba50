/**
 * Work that outlives its callers: it runs once for all of them, and belongs to the span of none.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as SynchronizedRef from "effect/SynchronizedRef"
import * as Tracer from "effect/Tracer"

/**
 * Returns a function that runs an effect in the given scope; further calls during a run get its result. The run goes
 * on if its callers stop waiting. The run is interruptible even if a caller is not.
 */
export const singleFlight = <A, E>(scope: Scope.Scope) =>
  Effect.map(
    SynchronizedRef.make(Option.none<Fiber.Fiber<A, E>>()),
    (running) =>
      <R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        SynchronizedRef.modifyEffect(
          running,
          Option.match({
            onNone: () =>
              effect.pipe(
                Effect.interruptible,
                Effect.ensuring(SynchronizedRef.set(running, Option.none())),
                Effect.forkIn(scope),
                Effect.map((fiber) => [fiber, Option.some(fiber)] as const)
              ),
            onSome: (fiber) => Effect.succeed([fiber, Option.some(fiber)] as const)
          })
        ).pipe(Effect.uninterruptible, Effect.flatMap(Fiber.join))
  )

/**
 * Runs the effect in no span: its traces begin on their own, and services that it captures for later work are without
 * the span, too. Otherwise long-lived work would be reported as a part of this span for months.
 */
export const withoutParentSpan: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> =
  Effect.locallyWith(FiberRef.currentContext, Context.omit(Tracer.ParentSpan))
