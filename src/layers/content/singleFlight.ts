/**
 * Work that runs once at a time, however many ask for it.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as SynchronizedRef from "effect/SynchronizedRef"

/**
 * Runs the effect in the given scope; whoever asks while it runs gets what it comes to. It goes on when they
 * no longer wait for it.
 */
export const singleFlight = <A, E, R>(effect: Effect.Effect<A, E, R>, scope: Scope.Scope) =>
  Effect.gen(function* () {
    const running = yield* SynchronizedRef.make(Option.none<Fiber.Fiber<A, E>>())
    const start = effect.pipe(
      Effect.ensuring(SynchronizedRef.set(running, Option.none())),
      Effect.forkIn(scope),
      Effect.map((fiber) => [fiber, Option.some(fiber)] as const)
    )
    return SynchronizedRef.modifyEffect(
      running,
      Option.match({
        onNone: () => start,
        onSome: (fiber) => Effect.succeed([fiber, Option.some(fiber)] as const)
      })
    ).pipe(Effect.flatMap(Fiber.join))
  })
