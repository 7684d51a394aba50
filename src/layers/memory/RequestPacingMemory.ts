/**
 * Pacing of requests within one process.
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import { monotonicMillis } from "../../internal/monotonicMillis.ts"
import { type Pacer, RequestPacing } from "../../services/RequestPacing.ts"
import { reportWait } from "../../services/WaitObserver.ts"

/** The pace of one process: other processes that use the same key are not counted. */
export const layer: Layer.Layer<RequestPacing> = Layer.sync(RequestPacing, () => {
  const pacers = new Map<string, (interval: Duration.Duration) => Pacer>()
  return RequestPacing.of({
    pacer: (key, interval) =>
      Effect.sync(() => {
        const pacer = pacers.get(key) ?? makePacer()
        pacers.set(key, pacer)
        return pacer(Duration.decode(interval))
      })
  })
})

const makePacer = (): ((interval: Duration.Duration) => Pacer) => {
  const inOrder = makeQueue()
  let free = 0
  let heldUntil = 0

  /** Reports when the wait ends, unless that was reported already, and returns what was reported. */
  const report = (now: number, told = 0): Effect.Effect<number> =>
    now < free && told !== free
      ? Effect.as(reportWait(now < heldUntil ? "penalty" : "pacing", free - now), free)
      : Effect.succeed(told)

  const start = (interval: Duration.Duration, toldBefore: number): Effect.Effect<void> =>
    Effect.flatMap(monotonicMillis, (now) => {
      if (now < free) {
        return Effect.flatMap(report(now, toldBefore), (told) =>
          Effect.zipRight(Effect.sleep(free - now), start(interval, told))
        )
      }
      free = now + Duration.toMillis(interval)
      return Effect.void
    })

  return (interval) => ({
    take: Effect.flatMap(monotonicMillis, (now) =>
      Effect.flatMap(report(now), (told) => inOrder(start(interval, told)))
    ),
    hold: (duration) =>
      Effect.map(monotonicMillis, (now) => {
        heldUntil = Math.max(heldUntil, now + Duration.toMillis(duration))
        free = Math.max(free, heldUntil)
      })
  })
}

/**
 * Runs each effect when those before it have ended. A fiber that releases a semaphore of Effect and asks for it again at once has
 * it again, before those who wait.
 */
const makeQueue = () => {
  let last = Effect.void
  return <E, R>(effect: Effect.Effect<void, E, R>) =>
    Effect.uninterruptibleMask((restore) => {
      const before = last
      const ended = Deferred.unsafeMake<void>(FiberId.none)
      last = Deferred.await(ended)
      return Effect.onExit(restore(Effect.zipRight(before, effect)), (exit) =>
        // Those behind one who gives up still wait for who is before it.
        Deferred.completeWith(ended, Exit.isSuccess(exit) ? Effect.void : before)
      )
    })
}
