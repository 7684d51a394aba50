/**
 * Work that is done once for all who want the same at the same time.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"

/** Runs an effect; whoever comes with the same key meanwhile gets what it comes to, and runs none. */
export type JoinCalls<A, E> = <R>(key: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Where the one that runs it is interrupted, one of those who wait runs their own. */
export const makeJoinCalls = <A, E>(): JoinCalls<A, E> => {
  const running = new Map<string, Deferred.Deferred<Option.Option<Exit.Exit<A, E>>>>()

  const join: JoinCalls<A, E> = (key, effect) =>
    Effect.uninterruptibleMask((restore) => {
      const others = running.get(key)
      if (others !== undefined) {
        return restore(
          Effect.flatMap(
            Deferred.await(others),
            Option.getOrElse(() => join(key, effect))
          )
        )
      }
      const own = Deferred.unsafeMake<Option.Option<Exit.Exit<A, E>>>(FiberId.none)
      running.set(key, own)
      return Effect.onExit(restore(effect), (exit) => {
        running.delete(key)
        return Deferred.succeed(own, Exit.isInterrupted(exit) ? Option.none() : Option.some(exit))
      })
    })

  return join
}
