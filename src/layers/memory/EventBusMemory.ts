/**
 * The event bus of one process: an Effect `PubSub`, limited by number and by size.
 *
 * The `PubSub` carries only the numbers of events. The latest 4,096 events, 16 MiB at most, are kept once for all
 * subscribers, even after all have read them. A subscriber that is further behind misses the oldest.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { makeEventRing, maxEvents } from "../../internal/keptEvents.ts"
import { type BusEvent, EventBus } from "../../services/EventBus.ts"
import { feed } from "./definedEvents.ts"

/**
 * A bus that never fails. One synchronous step numbers an event and hands it to every subscriber. Feeds end with the
 * scope. After that, feeds are empty, and `publish` does nothing.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<typeof EventBus.Service, never, Scope.Scope> = Effect.gen(function* () {
  const numbers = yield* Effect.acquireRelease(PubSub.sliding<number>(maxEvents), PubSub.shutdown)
  const ring = makeEventRing<BusEvent>()
  let published = 0

  const publish = (name: string, payload: unknown) =>
    Effect.sync(() => {
      published += 1
      ring.add({ name, payload, sequence: published })
      // Run here: the fiber may have to wait for its turn, or be interrupted, before a returned Effect runs. The exit is an
      // interruption after the end of the scope, which must not interrupt the publisher.
      Effect.runSyncExit(PubSub.publish(numbers, published))
    })

  const subscribe = Effect.map(Effect.scope, (scope) => {
    // Run here: an event that is published in between would be in the feed, and before its first number.
    const subscription = Effect.runSync(Scope.extend(PubSub.subscribe(numbers), scope))
    return feed(Stream.filterMap(Stream.fromQueue(subscription), ring.get), published + 1)
  })

  return EventBus.of({ publish, subscribe, emptied: Stream.empty })
})

/**
 * The event bus of one process, as `make` describes.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<EventBus> = Layer.scoped(EventBus, make)
