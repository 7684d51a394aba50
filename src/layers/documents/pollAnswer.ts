/**
 * What a source answers to a poll.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { monotonicMillis } from "../../internal/monotonicMillis.ts"
import type { SourceChanges } from "../../services/ContentSource.ts"

/** Everything may have changed where the cursor is another one than before. */
export const changesSince = (before: Option.Option<string>, cursor: string): SourceChanges => ({
  cursor,
  changed: Option.contains(before, cursor) ? "nothing" : "everything"
})

/** When content was read last, for polls that cannot see each change: at first, long ago. */
export const makeLastRead = Effect.map(Ref.make(0), (readAt) => ({
  /** Content is read now. */
  isNow: Effect.flatMap(monotonicMillis, (now) => Ref.set(readAt, now)),
  /** As `changesSince`, if content was read within this time; else everything may have changed. Who sets the clock changes nothing. */
  changesSince: (before: Option.Option<string>, cursor: string, longest: Duration.Duration) =>
    Effect.zipWith(monotonicMillis, Ref.get(readAt), (now, at) =>
      changesSince(now - at < Duration.toMillis(longest) ? before : Option.none(), cursor)
    )
}))
