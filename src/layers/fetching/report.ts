/**
 * Reports what happens in the content plugin: to the state, and by events.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { messageOf } from "../../internal/SerializedError.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import type { ContentEvent } from "../../services/ContentEvents.ts"
import { EventBus } from "../../services/EventBus.ts"
import { applyEvent, type ContentSlice, isChange } from "./contentState.ts"

export type Report = (event: ContentEvent) => Effect.Effect<void>

/** The present time in ISO 8601, UTC, with milliseconds. */
export const timestamp = Effect.map(Clock.currentTimeMillis, (now) => new Date(now).toISOString())

/** Changes the slice of the content, then publishes the event. */
export const makeReport = (name: string, slice: ContentSlice) =>
  Effect.map(
    makePublish(name),
    (publish): Report =>
      (event) =>
        Effect.zipRight(
          (isChange(event) ? slice.update : slice.note)((before) => applyEvent(before, event)),
          publish(event)
        )
  )

/**
 * Publishes events under the name of the content. A failure of the bus is logged once; when the bus works again, the
 * active version is announced again. Versions are announced one at a time, the newest last.
 */
const makePublish = Effect.fnUntraced(function* (contentName: string) {
  const bus = yield* EventBus
  const unannounced = yield* Ref.make(Option.none<ContentEvent>())
  const announcing = yield* Effect.makeSemaphore(1)
  const warning = makeWarnWhile(
    (message) => `${message}. Clients learn of new versions from the manifest only, until it works again.`
  )

  /** Gives whether the bus accepted the event. */
  const publish = (event: ContentEvent) =>
    Effect.matchCauseEffect(bus.publish(event.name.replace("content", contentName), event.payload), {
      onFailure: (cause) => Effect.as(warning.fails(messageOf(Cause.squash(cause))), false),
      onSuccess: () => Effect.as(warning.works, true)
    })

  /** Keeps the version as unannounced until the bus accepts it, also after an interruption. */
  const announce = Effect.gen(function* () {
    const version = yield* Ref.get(unannounced)
    if (Option.isSome(version) && (yield* publish(version.value))) {
      yield* Ref.update(unannounced, (now) => (now === version ? Option.none() : now))
    }
  }).pipe(announcing.withPermits(1))

  return (event: ContentEvent) =>
    event.name === "content:version:promoted"
      ? Effect.zipRight(Ref.set(unannounced, Option.some(event)), announce)
      : Effect.asVoid(Effect.whenEffect(announce, publish(event)))
})
