/**
 * What a source answers to a poll.
 */
import * as Option from "effect/Option"
import type { SourceChanges } from "../../services/ContentSource.ts"

/** Everything may have changed where the cursor is another one than before. */
export const changesSince = (before: Option.Option<string>, cursor: string): SourceChanges => ({
  cursor,
  changed: Option.contains(before, cursor) ? "nothing" : "everything"
})
