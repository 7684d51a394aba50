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
  let isHeld = false
  const waiting: Array<Deferred.Deferred<void>> = []

  const handOn = () => {
    const next = waiting.shift()
    if (next === undefined) {
      isHeld = false
    } else {
      Deferred.unsafeDone(next, Effect.void)
    }
  }
  const release = Effect.sync(handOn)

  /** Who gives up may have been given the lock just then. */
  const giveUp = (turn: Deferred.Deferred<void>) =>
    Effect.sync(() => {
      const place = waiting.indexOf(turn)
      if (place === -1) {
        handOn()
      } else {
        waiting.splice(place, 1)
      }
    })

  return (effect) =>
    Effect.uninterruptibleMask((restore) => {
      const held = Effect.ensuring(restore(effect), release)
      if (!isHeld) {
        isHeld = true
        return held
      }
      const turn = Deferred.unsafeMake<void>(FiberId.none)
      waiting.push(turn)
      return restore(Deferred.await(turn)).pipe(
        Effect.onInterrupt(() => giveUp(turn)),
        Effect.zipRight(held)
      )
    })
}
