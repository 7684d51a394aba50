/**
 * The event bus of one process.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { EventBus } from "../../services/EventBus.ts"
import { makeBroadcast } from "./broadcast.ts"

export { maxWaitingSize, subscriberCapacity } from "../../internal/waitingEvents.ts"

export const make = Effect.map(
  Effect.acquireRelease(Effect.sync(makeBroadcast), ({ close }) => Effect.sync(close)),
  ({ listen, publish, subscribe }) =>
    EventBus.of({
      publish: (name, payload) => Effect.sync(() => publish(name, payload)),
      subscribe: Object.assign(subscribe, { listen }),
      emptied: Stream.empty
    })
)

export const layer: Layer.Layer<EventBus> = Layer.scoped(EventBus, make)
