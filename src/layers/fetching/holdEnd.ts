/**
 * Ends holds that have an end: at that time, or when the controller runs again after it.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import type { Hold } from "../../services/VersionStore.ts"
import { ActiveVersion } from "./ActiveVersion.ts"
import * as Undo from "./Undo.ts"

/** The longest sleep: the clock may be set, or the machine may sleep. */
const longestSleep = Duration.seconds(10)

/** The pause before the next try if the waiting version cannot be activated. */
const retryAfter = Duration.minutes(1)

/** Ends each hold in time; never ends itself. Without a hold that has an end, nothing runs. */
export const endHolds = Effect.gen(function* () {
  const { held } = yield* ActiveVersion
  const warning = makeWarnWhile(
    (reason) => `The hold cannot end, and Vitrine tries again each minute: ${reason}`
  )

  /** Gives the pause until the next step; `None` if the hold is over. */
  const step = Effect.fnUntraced(function* ({ by, until = "" }: Hold) {
    const now = yield* Clock.currentTimeMillis
    const remaining = Date.parse(until) - now
    if (remaining > 0) {
      return Option.some(Duration.min(remaining, longestSleep))
    }
    return yield* Undo.resume({ dueAt: now, ...(by === undefined ? {} : { by }) }).pipe(
      Effect.zipRight(warning.works),
      Effect.as(Option.none<Duration.Duration>()),
      Effect.catchAll(({ message }) => Effect.as(warning.fails(message), Option.some(retryAfter)))
    )
  })

  const end = (hold: Hold) =>
    Effect.repeat(
      Effect.tap(step(hold), (pause) => Effect.transposeMapOption(pause, Effect.sleep)),
      { while: Option.isSome }
    )

  yield* held.changes.pipe(
    Stream.flatMap(
      Option.match({
        onNone: () => Stream.empty,
        onSome: (hold) => (hold.until === undefined ? Stream.empty : Stream.fromEffect(end(hold)))
      }),
      { switch: true }
    ),
    Stream.runDrain
  )
})
