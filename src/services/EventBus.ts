/**
 * The event bus: what happened, told to whoever listens now.
 *
 * It owns delivery to live subscribers. It does not own memory of past events
 * (`ReplayBacklog`) or their form on a wire (the transports).
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"

/** Something that happened: a name such as `content:fetch:start`, and what there is to say about it. */
export interface BusEvent {
  readonly name: string
  readonly payload: unknown
  /** One more than that of the event published before: a subscriber can tell by a gap how many it has missed. */
  readonly sequence: number
}

export class EventBus extends Context.Tag("vitrine/EventBus")<
  EventBus,
  {
    /** Hands an event to every live subscriber. It never waits for one of them. */
    readonly publish: (name: string, payload: unknown) => Effect.Effect<void>

    /**
     * A live feed of every event published from now on, in the order of publication.
     *
     * The subscription exists when this Effect returns, so nothing published afterwards is missed, and it
     * ends with the scope. Each subscriber has a bounded buffer; one that falls behind by more than that
     * misses its oldest events, and nobody else notices.
     */
    readonly subscribe: Effect.Effect<Stream.Stream<BusEvent>, never, Scope.Scope>
  }
>() {}
