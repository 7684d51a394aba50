/**
 * The event bus: delivers events to its current subscribers.
 *
 * It owns delivery to live subscribers and the one order of events. It does not own memory of past events
 * (`ReplayBacklog`) or their form on a wire (the transports).
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import { optional } from "../internal/schemas.ts"

/**
 * An event: a name such as `content:fetch:start`, and its payload.
 *
 * @since 0.1.0
 * @category models
 */
export interface BusEvent {
  readonly name: string
  /** Any value. A subscriber gets the value itself, or a copy that went through JSON (`encodeJson`). */
  readonly payload: unknown
  /**
   * The place of the event in the one order that all instances of a bus share: a positive integer, one more than the
   * sequence of the event before. A gap tells a subscriber how many events it has missed.
   */
  readonly sequence: number
}

/**
 * The events since a subscription, as a Stream that also tells where it begins.
 *
 * @since 0.1.0
 * @category models
 */
export interface Feed extends Stream.Stream<BusEvent, EventBusError> {
  /**
   * The sequence of the first event that is published after the subscription. It reveals events that were missed before the
   * first event arrives; without it, their loss is not noticed.
   */
  readonly first?: number | undefined
}

/**
 * Each of its operations ends in bounded time.
 *
 * @since 0.1.0
 * @category tags
 */
export class EventBus extends Context.Tag("vitrine/EventBus")<
  EventBus,
  {
    /**
     * Hands an event to every live subscriber. It never waits for a subscriber.
     *
     * A bus of one process never fails. If a caller announces data that is kept elsewhere, for example the manifest,
     * it logs a failure and goes on.
     */
    readonly publish: (name: string, payload: unknown) => Effect.Effect<void, EventBusError>

    /**
     * A live feed of every event published from now on, in the order of publication.
     *
     * The subscription exists when this Effect returns, so nothing published afterwards is missed, and it ends with
     * the scope. Each subscriber has a bounded buffer. If a subscriber falls behind by more than its buffer, it
     * misses its oldest events; others are not affected.
     *
     * The feed fails if it cannot go on, or if the numbering of events starts again. Sequences are comparable within
     * one feed, and with the sequences of a `ReplayBacklog` that is read while the feed goes on.
     */
    readonly subscribe: Effect.Effect<Feed, EventBusError, Scope.Scope>

    /**
     * Emits when the engine has lost the published events, and numbers events again from the start. Publishers then
     * publish again what later subscribers need, for example the active version. `Stream.empty` for a bus whose
     * engine cannot lose events; a bus that wraps another passes on the other's.
     */
    readonly emptied: Stream.Stream<void>
  }
>() {}

/**
 * An event with a type, for the code that publishes it and the code that subscribes to it.
 *
 * @since 0.1.0
 * @category models
 */
export interface DefinedEvent<Payload, Encoded> {
  readonly name: string
  readonly payload: Schema.Schema<Payload, Encoded>

  /** As `publish` of the bus. A payload that the schema cannot encode fails, and is not published. */
  readonly publish: (payload: Payload) => Effect.Effect<void, EventBusError, EventBus>

  /**
   * As `subscribe` of the bus, with the payloads of this event alone. An event whose payload does not decode is left
   * out, and a warning is logged the first time.
   */
  readonly subscribe: Effect.Effect<
    Stream.Stream<Payload, EventBusError>,
    EventBusError,
    EventBus | Scope.Scope
  >
}

const actions = {
  publish: "publish an event",
  subscribe: "be subscribed to",
  receive: "deliver events"
} as const

/**
 * The engine of the bus is not usable, or has lost its state.
 *
 * @since 0.1.0
 * @category errors
 */
export class EventBusError extends Schema.TaggedError<EventBusError>()("vitrine/EventBusError", {
  action: Schema.Literal("publish", "subscribe", "receive"),
  detail: Schema.String,
  cause: optional(Schema.Defect)
}) {
  override get message() {
    return `The event bus could not ${actions[this.action]}: ${this.detail}`
  }
}
