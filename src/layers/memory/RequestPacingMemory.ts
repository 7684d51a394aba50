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
import { WaitObserver } from "../../services/WaitObserver.ts"

/**
 * A pace of its own for each build of this layer. Requests of other processes with the same key do not count.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<RequestPacing> = Layer.sync(RequestPacing, () => make())

const make = () => {
  const pacers = new Map<string, (interval: Duration.Duration) => Pacer>()
  return RequestPacing.of({
    pacer: (key, interval) =>
      Effect.sync(() => {
        const pacer = pacers.get(key) ?? makePacer()
        pacers.set(key, pacer)
        return pacer(Duration.decode(interval))
      })
  })
}

const makePacer = (): ((interval: Duration.Duration) => Pacer) => {
  const inOrder = makeQueue()
  let free = 0
  let heldUntil = 0

  /** Reports the end of the wait, unless the same end was reported before. Returns the reported end. */
  const report = (now: number, reported = 0): Effect.Effect<number> =>
    now < free && reported !== free
      ? Effect.flatMap(WaitObserver, ({ waiting }) =>
          Effect.as(waiting({ reason: now < heldUntil ? "penalty" : "pacing", millis: free - now }), free)
        )
      : Effect.succeed(reported)

  const start = (interval: Duration.Duration, reportedBefore: number): Effect.Effect<void> =>
    Effect.flatMap(monotonicMillis, (now) => {
      if (now < free) {
        return Effect.flatMap(report(now, reportedBefore), (reported) =>
          Effect.zipRight(Effect.sleep(free - now), start(interval, reported))
        )
      }
      free = now + Duration.toMillis(interval)
      return Effect.void
    })

  return (interval) => ({
    take: Effect.flatMap(monotonicMillis, (now) =>
      Effect.flatMap(report(now), (reported) => inOrder(start(interval, reported)))
    ),
    hold: (duration) =>
      Effect.map(monotonicMillis, (now) => {
        heldUntil = Math.max(heldUntil, now + Duration.toMillis(duration))
        free = Math.max(free, heldUntil)
      })
  })
}

/**
 * Runs each effect when the effects before it have ended. With a semaphore of Effect, a fiber that releases it and asks
 * again at once would get it again before the waiting fibers.
 */
const makeQueue = () => {
  let last = Effect.void
  return <E, R>(effect: Effect.Effect<void, E, R>) =>
    Effect.uninterruptibleMask((restore) => {
      const before = last
      const ended = Deferred.unsafeMake<void>(FiberId.none)
      last = Deferred.await(ended)
      return Effect.onExit(restore(Effect.zipRight(before, effect)), (exit) =>
        // If this effect was interrupted, the effects behind it still wait for those before it.
        Deferred.completeWith(ended, Exit.isSuccess(exit) ? Effect.void : before)
      )
    })
}

/**
 * One pace for all who use this layer, wherever they build it. Configurations use it.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerShared: Layer.Layer<RequestPacing> = Layer.succeed(RequestPacing, make())
