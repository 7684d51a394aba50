/**
 * The limit of each wait for a server. One fiber watches all waits: a fiber and a timer for each of them cost more than
 * downloading a small file.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"
import { monotonicMillis } from "../../internal/monotonicMillis.ts"

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

  // One step: two waits that begin at once must not start two watchers.
  const add = (over: Wait["over"]) =>
    Effect.zipWith(monotonicMillis, Effect.runtime(), (now, runtime) => {
      const wait = { until: now + millis, over }
      waits.add(wait)
      watcher ??= Runtime.runFork(runtime, Effect.interruptible(watch), { immediate: false })
      return wait
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
      : Effect.suspend(() => {
          let isOver = false
          let over = () => {
            isOver = true
          }
          return Effect.acquireUseRelease(
            add(() => over()),
            () =>
              Effect.async<void, E>((resume) => {
                over = () => resume(Effect.failSync(late))
                if (isOver) over()
                else begin(() => resume(Effect.void))
              }),
            (wait) => Effect.sync(() => remove(wait))
          )
        })
}

/** Fails if the effect takes longer. It has ended when this ends. */
export const within =
  <E>(inTime: InTime, late: () => E) =>
  <A, E2, R>(effect: Effect.Effect<A, E2, R>): Effect.Effect<A, E | E2, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.fork(Effect.exit(restore(effect))), (fiber) =>
        restore(inTime((resume) => fiber.addObserver(resume), late)).pipe(
          Effect.ensuring(Fiber.interrupt(fiber)),
          Effect.zipRight(Effect.flatten(Fiber.join(fiber)))
        )
      )
    )
