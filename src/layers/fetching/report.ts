/**
 * How the parts of the content plugin report what happens.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { messageOf } from "../../internal/SerializedError.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import type { ContentEvent } from "../../services/ContentEvents.ts"
import { EventBus } from "../../services/EventBus.ts"
import { advance, type ContentSlice, isChange } from "./contentState.ts"

export type Report = (event: ContentEvent) => Effect.Effect<void>

/** Now, in ISO 8601, UTC, with milliseconds. */
export const timestamp = Effect.map(Clock.currentTimeMillis, (now) => new Date(now).toISOString())

/** Changes the slice of the content, then publishes the event. */
export const makeReport = (name: string, slice: ContentSlice) =>
  Effect.map(
    makePublish(name),
    (publish): Report =>
      (event) =>
        Effect.zipRight(
          (isChange(event) ? slice.update : slice.note)((before) => advance(before, event)),
          publish(event)
        )
  )

/**
 * Publishes events under the name of the content. Where the bus fails, that is logged once until it works again, and then
 * the active version is announced again.
 */
const makePublish = Effect.fnUntraced(function* (contentName: string) {
  const bus = yield* EventBus
  const unannounced = yield* Ref.make(Option.none<ContentEvent>())
  const warning = makeWarnWhile(
    (message) => `${message}. Clients learn of new versions from the manifest only, until it works again.`
  )

  const publish: Report = Effect.fnUntraced(function* (event) {
    const isPromotion = event.name === "content:version:promoted"
    const published = yield* Effect.exit(
      bus.publish(event.name.replace("content", contentName), event.payload)
    )
    if (Exit.isFailure(published)) {
      yield* isPromotion ? Ref.set(unannounced, Option.some(event)) : Effect.void
      return yield* warning.fails(messageOf(Cause.squash(published.cause)))
    }
    yield* warning.works
    const missed = yield* Ref.getAndSet(unannounced, Option.none())
    if (!isPromotion && Option.isSome(missed)) {
      yield* publish(missed.value)
    }
  })
  return publish
})
