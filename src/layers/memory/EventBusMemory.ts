/**
 * The event bus of one process: an Effect `PubSub`.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { EventBus } from "../../services/EventBus.ts"
import * as EventPubSub from "./EventPubSub.ts"

/** A bus that keeps 4,096 events and 16 MiB at most for a slow subscriber, which then misses the oldest. It never fails. */
export const make = Effect.map(EventPubSub.make, (events) =>
  EventBus.of({ ...events, emptied: Stream.empty })
)

/** The event bus of one process, as `make` says. */
export const layer: Layer.Layer<EventBus> = Layer.scoped(EventBus, make)
