/**
 * The event bus of one process: an Effect `PubSub`.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { EventBus } from "../../services/EventBus.ts"
import * as EventPubSub from "./EventPubSub.ts"

export const make = Effect.map(EventPubSub.make, (events) =>
  EventBus.of({ ...events, emptied: Stream.empty })
)

export const layer: Layer.Layer<EventBus> = Layer.scoped(EventBus, make)
