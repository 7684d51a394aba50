/**
 * The event bus, events of a type on any bus, and feeds of events.
 */
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import type * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { issueText, placedIssues } from "../../internal/Options.ts"
import { makeWarnOnce } from "../../internal/warnOnce.ts"
import {
  type BusEvent,
  type DefinedEvent,
  EventBus,
  EventBusError,
  type Feed
} from "../../services/EventBus.ts"

export * from "../../services/EventBus.ts"

/**
 * Defines an event with its type. The bus carries the encoded payload.
 *
 * @since 0.1.0
 * @category constructors
 */
export const define = <Payload, Encoded>(
  name: string,
  payload: Schema.Schema<Payload, Encoded>
): DefinedEvent<Payload, Encoded> => {
  const encode = Schema.encode(payload, { errors: "all" })
  const decode = Schema.decodeUnknown(payload)
  const warnOnce = makeWarnOnce(
    (name) => `An event "${name}" was left out: its payload is not what this program expects.`
  )
  const decodeEvent = (event: BusEvent) =>
    event.name === name
      ? Effect.catchAll(Effect.asSome(decode(event.payload)), () =>
          Effect.as(warnOnce(name), Option.none<Payload>())
        )
      : Effect.succeedNone
  return {
    name,
    payload,
    publish: (given) =>
      Effect.gen(function* () {
        const bus = yield* EventBus
        yield* bus.publish(name, yield* Effect.mapError(encode(given), invalidPayload(name)))
      }),
    subscribe: Effect.flatMap(EventBus, ({ subscribe }) =>
      Effect.map(subscribe, (feed) => Stream.filterMap(Stream.mapEffect(feed, decodeEvent), identity))
    )
  }
}

const invalidPayload = (name: string) => (error: ParseResult.ParseError) =>
  new EventBusError({
    action: "publish",
    detail: `The payload of "${name}" is wrong: ${issueText(placedIssues(error))}`
  })

/**
 * A feed of these events that begins at the sequence `first`. A wrapper that changes the events of a feed passes on its
 * `first`: the operators of `Stream` drop it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const feed = (events: Stream.Stream<BusEvent, EventBusError>, first: number | undefined): Feed =>
  Object.assign(
    Stream.suspend(() => events),
    { first }
  )
