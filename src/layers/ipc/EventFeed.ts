/**
 * Every event of the bus to every connection that has subscribed.
 *
 * It owns the subscription to the bus, which is one however many subscribers there are, and the form of an event
 * on the wire, made once for all. What a subscriber that does not read may cost belongs to its sink.
 */
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import type { BusEvent, EventBus } from "../../services/EventBus.ts"
import { type FanOutSink, makeFanOut } from "../fanOut/FanOut.ts"
import { keepSubscribed } from "../fanOut/keepSubscribed.ts"
import * as JsonRpc from "./JsonRpc.ts"

export interface EventFeed {
  /** From now on the sink is given every event. Harmless for one that is a subscriber already. */
  readonly subscribe: (sink: FanOutSink) => void
  /** From now on it is given nothing more. Harmless for one that is no subscriber. */
  readonly unsubscribe: (sink: FanOutSink) => void
  readonly isSubscribed: (sink: FanOutSink) => boolean
}

export const make: Effect.Effect<EventFeed, never, EventBus | Scope.Scope> = Effect.gen(function* () {
  const log = Runtime.runFork(yield* Effect.runtime())
  const fanOut = makeFanOut<FanOutSink>(() =>
    log(
      Effect.logWarning("A reader of events over the controller's socket fell behind, and was disconnected.")
    )
  )

  const framesOf = function* (events: Iterable<BusEvent>) {
    for (const { name, payload } of events) {
      if (fanOut.size() > 0) {
        yield JsonRpc.event(name, payload)
      }
    }
  }

  yield* keepSubscribed({
    name: "The controller's socket",
    open: Effect.void,
    take: (events) => fanOut.send(framesOf(events)),
    lost: Effect.void
  })

  return {
    subscribe: (sink) => {
      if (!fanOut.has(sink)) {
        fanOut.join(sink)
      }
    },
    unsubscribe: (sink) => {
      fanOut.leave(sink)
    },
    isSubscribed: fanOut.has
  }
})
