/**
 * Ends holds that have an end: at their time, or when the controller is back after it.
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

/** How long it sleeps at most: the clock may be set, or the machine may have slept. */
const longestSleep = Duration.seconds(10)

/** How long the next try waits where the version that waits cannot be shown. */
const retryAfter = Duration.minutes(1)

/** Never ends. Nothing runs while no hold has an end. */
export const endHolds = Effect.gen(function* () {
  const { held } = yield* ActiveVersion
  const warning = makeWarnWhile((reason) => `The hold cannot end, and is tried again each minute: ${reason}`)

  /** How long to wait until the next step; nothing where the hold is over. */
  const step = Effect.fnUntraced(function* ({ by, until = "" }: Hold) {
    const now = yield* Clock.currentTimeMillis
    const left = Date.parse(until) - now
    if (left > 0) {
      return Option.some(Duration.min(left, longestSleep))
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
