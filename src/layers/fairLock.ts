/**
 * A lock that is handed on in the order in which it was asked for.
 *
 * Whoever releases a semaphore of Effect and asks for it again at once has it again, before those who wait.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"

/** Runs an effect when those that asked before have ended. */
export type Lock = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

export const makeFairLock = (): Lock => {
  let last: Deferred.Deferred<void> | undefined
  return (effect) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
        const turn = last === undefined ? Effect.void : Deferred.await(last)
        const done = Deferred.unsafeMake<void>(FiberId.none)
        last = done
        return restore(turn).pipe(
          Effect.onInterrupt(() => Deferred.completeWith(done, turn)),
          Effect.zipRight(Effect.ensuring(restore(effect), Deferred.succeed(done, undefined)))
        )
      })
    )
}
