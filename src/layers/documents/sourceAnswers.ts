/**
 * What a source answers to a fetch that failed, and to a poll.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { monotonicMillis } from "../../internal/monotonicMillis.ts"
import { type SourceChanges, SourceFailed } from "../../services/ContentSource.ts"
import { NotAsExpected } from "./expect/Expectations.ts"

/** The failure of a source for this reason, with what is not as expected. One that is a failure of a source already stays as it is. */
export const sourceFailed =
  (sourceId: string) =>
  (cause: (Error & { readonly isTransient: boolean }) | SourceFailed): SourceFailed =>
    cause instanceof SourceFailed
      ? cause
      : new SourceFailed({
          sourceId,
          cause,
          isTransient: cause.isTransient,
          ...(cause instanceof NotAsExpected ? { violations: cause.violations } : {})
        })

/** Everything may have changed where the cursor is another one than before. */
export const changesSince = (before: Option.Option<string>, cursor: string): SourceChanges => ({
  cursor,
  changed: Option.contains(before, cursor) ? "nothing" : "everything"
})

/** When content was read last, for polls that cannot see each change: at first, long ago. */
export const makeLastRead = Effect.map(Ref.make(0), (readAt) => ({
  /** Content is read now. */
  isNow: Effect.flatMap(monotonicMillis, (now) => Ref.set(readAt, now)),
  /** Whether it was read within this time, also when somebody has set the clock. */
  isWithin: (longest: Duration.Duration) =>
    Effect.zipWith(monotonicMillis, Ref.get(readAt), (now, at) => now - at < Duration.toMillis(longest))
}))
