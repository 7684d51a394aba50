/**
 * What has changed in which sources.
 */
import type { Changed } from "../../services/ContentSource.ts"

/** By the ids of sources; those that are not in it have not changed. */
export type Changes = ReadonlyMap<string, Exclude<Changed, "nothing">>

export const none: Changes = new Map()

export const changesIn = (news: ReadonlyArray<{ readonly id: string; readonly changed: Changed }>): Changes =>
  new Map(
    news.flatMap(({ changed, id }) => (changed === "nothing" || changed.length === 0 ? [] : [[id, changed]]))
  )

/** Everything of these sources. */
export const everythingOf = (ids: ReadonlyArray<string>): Changes =>
  new Map(ids.map((id) => [id, "everything"]))

/** What has changed in either. */
export const merge = (one: Changes, other: Changes): Changes => {
  const merged = new Map(one)
  for (const [id, changed] of other) {
    const before = one.get(id) ?? []
    merged.set(
      id,
      before === "everything" || changed === "everything"
        ? "everything"
        : [...new Set([...before, ...changed])]
    )
  }
  return merged
}
