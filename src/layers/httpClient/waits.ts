/**
 * The limit of each wait for a server. One fiber watches all waits: a fiber and a timer for each of them cost more than
 * downloading a small file.
 */
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"
import { monotonicMillis, unsafeMonotonicMillis } from "../../internal/monotonicMillis.ts"

interface Wait {
  /** In monotonic milliseconds. */
  readonly until: number
  readonly over: () => void
}

/** Waits until the callback of `begin` is called, at most as long as the limit. */
export type InTime = <E>(begin: (resume: () => void) => void, late: () => E) => Effect.Effect<void, E>

export const makeInTime = (millis: number): InTime => {
  /** The oldest comes first, and ends first. */
  const waits = new Set<Wait>()
  let watcher: Fiber.RuntimeFiber<void> | undefined

  const watch: Effect.Effect<void> = Effect.flatMap(monotonicMillis, (now) => {
    for (const wait of waits) {
      if (wait.until > now) return Effect.zipRight(Effect.sleep(wait.until - now), watch)
      waits.delete(wait)
      wait.over()
    }
    watcher = undefined
    return Effect.void
  })

  const remove = (wait: Wait) => {
    waits.delete(wait)
    // The timer of the watcher would keep the process.
    if (waits.size > 0 || watcher === undefined) return
    watcher.unsafeInterruptAsFork(watcher.id())
    watcher = undefined
  }

  return <E>(begin: (resume: () => void) => void, late: () => E) =>
    millis === Number.POSITIVE_INFINITY
      ? Effect.async<void, E>((resume) => begin(() => resume(Effect.void)))
      : Effect.flatMap(Effect.zip(Effect.clock, Effect.runtime()), ([clock, runtime]) =>
          // One step: two waits that begin at once must not start two watchers.
          Effect.async<void, E>((resume) => {
            const wait = {
              until: unsafeMonotonicMillis(clock) + millis,
              over: () => resume(Effect.failSync(late))
            }
            waits.add(wait)
            watcher ??= Runtime.runFork(runtime, Effect.interruptible(watch), { immediate: false })
            begin(() => {
              remove(wait)
              resume(Effect.void)
            })
            return Effect.sync(() => remove(wait))
          })
        )
}

/** Fails if the effect takes longer. It has ended when this ends. */
export const within =
  <E>(inTime: InTime, late: () => E) =>
  <A, E2, R>(effect: Effect.Effect<A, E2, R>): Effect.Effect<A, E | E2, R> =>
    Effect.uninterruptibleMask((restore) =>
      // A child fiber would be interrupted with a caller that cannot be interrupted.
      Effect.flatMap(Effect.forkDaemon(Effect.exit(restore(effect))), (fiber) => {
        let ended: Effect.Effect<Exit.Exit<A, E2>> = Fiber.join(fiber)
        const wait = inTime((resume) => {
          fiber.addObserver((exit) => {
            ended = exit
            resume()
          })
        }, late)
        return Effect.onError(restore(wait), () => Fiber.interrupt(fiber)).pipe(
          Effect.zipRight(Effect.suspend(() => Effect.flatten(ended)))
        )
      })
    )
