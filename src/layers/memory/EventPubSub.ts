/**
 * Events to everybody who has subscribed within one process: Effect's `PubSub`, bounded by number and by size.
 *
 * The `PubSub` carries the numbers of events only. The latest 4,096 events, 16 MiB at most, are kept once for all
 * subscribers, also when everybody has read them. A subscriber that falls behind by more misses the oldest.
 */
import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { makeEventRing, maxEvents } from "../../internal/eventRing.ts"
import type { BusEvent } from "../../services/EventBus.ts"

export interface EventPubSub {
  /** Numbers the event and hands it to every subscriber, in one synchronous step. */
  readonly publish: (name: string, payload: unknown) => Effect.Effect<void>
  /** Ends when the scope does, in which the `PubSub` was made, also where that is over already. */
  readonly subscribe: Effect.Effect<Stream.Stream<BusEvent>, never, Scope.Scope>
}

export const make: Effect.Effect<EventPubSub, never, Scope.Scope> = Effect.gen(function* () {
  const numbers = yield* Effect.acquireRelease(PubSub.sliding<number>(maxEvents), PubSub.shutdown)
  const ring = makeEventRing<BusEvent>()
  let published = 0
  return {
    publish: (name, payload) =>
      Effect.suspend(() => {
        published += 1
        ring.add({ name, payload, sequence: published })
        // Run here: the fiber may wait for a turn, or be interrupted, in front of any Effect that it returns.
        return Effect.runSyncExit(PubSub.publish(numbers, published))
      }),
    subscribe: Effect.if(PubSub.isShutdown(numbers), {
      onTrue: () => Effect.succeed(Stream.empty),
      onFalse: () =>
        Effect.map(PubSub.subscribe(numbers), (subscription) =>
          Stream.filterMap(Stream.fromQueue(subscription), ring.get)
        )
    })
  }
})
