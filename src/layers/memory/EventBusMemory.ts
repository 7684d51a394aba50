/**
 * The event bus of one process: an Effect `PubSub`, limited by number and by size.
 *
 * The `PubSub` carries only the numbers of events. The latest 4,096 events, 16 MiB at most, are kept once for all
 * subscribers, even after all have read them. A subscriber that is further behind misses the oldest.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import * as Stream from "effect/Stream"
import { makeEventRing, maxEvents } from "../../internal/keptEvents.ts"
import { type BusEvent, EventBus } from "../../services/EventBus.ts"

/**
 * A bus that never fails. One synchronous step numbers an event and hands it to every subscriber. Feeds end with the
 * scope; feeds that are opened later are empty.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = Effect.gen(function* () {
  const numbers = yield* Effect.acquireRelease(PubSub.sliding<number>(maxEvents), PubSub.shutdown)
  const ring = makeEventRing<BusEvent>()
  let published = 0

  const publish = (name: string, payload: unknown) =>
    Effect.suspend(() => {
      published += 1
      ring.add({ name, payload, sequence: published })
      // Run here: the fiber may have to wait for its turn, or be interrupted, before a returned Effect runs.
      return Effect.runSyncExit(PubSub.publish(numbers, published))
    })

  const subscribe = Effect.if(PubSub.isShutdown(numbers), {
    onTrue: () => Effect.succeed(Stream.empty),
    onFalse: () =>
      Effect.map(PubSub.subscribe(numbers), (subscription) =>
        Stream.filterMap(Stream.fromQueue(subscription), ring.get)
      )
  })

  return { publish, subscribe, emptied: Stream.empty } satisfies typeof EventBus.Service
})

/**
 * The event bus of one process, as `make` describes.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<EventBus> = Layer.scoped(EventBus, make)
