/**
 * Ends holds that have an end: at their time, or when the controller is back after it.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import type { ContentState } from "../../services/Slices.ts"
import * as undo from "./undo.ts"

/** How often it looks at least: a hold may begin, the clock may be set, the machine may have slept. */
const lookEvery = Duration.seconds(10)

/** How long the next try waits where the version that waits cannot be shown. */
const retryAfter = Duration.minutes(1)

/** Never ends. */
export const endHolds = (state: Effect.Effect<ContentState>) => {
  const warning = makeWarnWhile((reason) => `The hold cannot end, and is tried again each minute: ${reason}`)
  const pause = Effect.gen(function* () {
    const { held: { by, until } = {} } = yield* state
    const now = yield* Clock.currentTimeMillis
    const left = until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until) - now
    if (left > 0) {
      return Duration.min(left, lookEvery)
    }
    return yield* undo.resume({ dueAt: now, ...(by === undefined ? {} : { by }) }).pipe(
      Effect.zipRight(warning.works),
      Effect.as(lookEvery),
      Effect.catchAll(({ message }) => Effect.as(warning.fails(message), retryAfter))
    )
  })
  return pause.pipe(Effect.flatMap(Effect.sleep), Effect.forever)
}
