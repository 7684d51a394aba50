/**
 * A lock that is handed on in the order in which it was asked for.
 *
 * Whoever releases a semaphore of Effect and asks for it again at once has it again, before those who wait.
 */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"

export type Lock = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

export const makeFairLock: Effect.Effect<Lock> = Effect.gen(function* () {
  const permit = yield* Queue.bounded<void>(1)
  const release = Queue.offer(permit, undefined)
  yield* release
  return (effect) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.zipRight(restore(Queue.take(permit)), Effect.ensuring(restore(effect), release))
    )
})
