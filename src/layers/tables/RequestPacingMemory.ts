/**
 * Pacing of requests within one process.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type Pacer, RequestPacing } from "../../services/RequestPacing.ts"
import { makeFairLock } from "../fairLock.ts"

/** Five requests a second are allowed for a base; this leaves room for what the network does to their spacing. */
export const interval = Duration.millis(215)

export const layer: Layer.Layer<RequestPacing> = Layer.sync(RequestPacing, () => {
  const pacers = new Map<string, Pacer>()
  return RequestPacing.of({
    pacer: (key) =>
      Effect.sync(() => {
        const pacer = pacers.get(key) ?? makePacer()
        pacers.set(key, pacer)
        return pacer
      })
  })
})

const makePacer = (): Pacer => {
  const inOrder = makeFairLock()
  let free = 0

  const start: Effect.Effect<void> = Effect.flatMap(monotonicMillis, (now) => {
    if (now < free) {
      return Effect.zipRight(Effect.sleep(free - now), start)
    }
    free = now + Duration.toMillis(interval)
    return Effect.void
  })

  return {
    take: inOrder(start),
    hold: (duration) =>
      Effect.map(monotonicMillis, (now) => {
        free = Math.max(free, now + Duration.toMillis(duration))
      })
  }
}

/** Not the time of day, which may be set back while somebody waits. */
const monotonicMillis = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos) / 1_000_000)
