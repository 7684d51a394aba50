/**
 * Pacing of requests within one process.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeFairLock } from "../../internal/fairLock.ts"
import { type Pacer, RequestPacing } from "../../services/RequestPacing.ts"
import { reportWait } from "../../services/WaitObserver.ts"

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
  const inOrder = makeFairLock()
  let free = 0
  let heldUntil = 0

  /** Tells when the wait ends unless that was told already, and gives what was told. */
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

/** Not the time of day, which may be set back while somebody waits. */
const monotonicMillis = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos) / 1_000_000)
