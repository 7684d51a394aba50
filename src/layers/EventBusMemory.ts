/**
 * The event bus of one process.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import * as Stream from "effect/Stream"
import { type BusEvent, EventBus } from "../services/EventBus.ts"

/** How many events wait for a slow subscriber before it misses the oldest. */
export const subscriberCapacity = 4096

export const make = Effect.gen(function* () {
  const events = yield* Effect.acquireRelease(PubSub.sliding<BusEvent>(subscriberCapacity), PubSub.shutdown)
  let published = 0
  return EventBus.of({
    publish: (name, payload) =>
      Effect.sync(() => {
        const event = { name, payload, sequence: ++published }
        if (!events.unsafeOffer(event)) {
          // In one step, or events could overtake each other on their way into the full bus.
          Effect.runSyncExit(PubSub.publish(events, event))
        }
      }),
    subscribe: Stream.fromPubSub(events, { scoped: true })
  })
})

export const layer: Layer.Layer<EventBus> = Layer.scoped(EventBus, make)
