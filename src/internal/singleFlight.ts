/**
 * Work that runs once at a time, for any number of callers.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as SynchronizedRef from "effect/SynchronizedRef"

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
