/**
 * How the parts of the content plugin report what happens.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
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
const makePublish = (contentName: string) =>
  Effect.map(EventBus, (bus): Report => {
    const warning = makeWarnWhile(
      (message) => `${message}. Clients learn of new versions from the manifest only, until it works again.`
    )
    let unannounced: ContentEvent | undefined

    const works = Effect.suspend(() => {
      const missed = unannounced
      unannounced = undefined
      return Effect.zipRight(warning.works, missed === undefined ? Effect.void : publish(missed))
    })

    const publish: Report = (event) => {
      const isPromotion = event.name === "content:version:promoted"
      return bus.publish(event.name.replace("content", contentName), event.payload).pipe(
        Effect.matchCauseEffect({
          onSuccess: () => {
            unannounced = isPromotion ? undefined : unannounced
            return works
          },
          onFailure: (cause) => {
            unannounced = isPromotion ? event : unannounced
            return warning.fails(messageOf(Cause.squash(cause)))
          }
        })
      )
    }
    return publish
  })
