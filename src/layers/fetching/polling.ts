/**
 * Asking sources whether anything has changed, and remembering what has until it is in a version.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { makeLastFailure } from "../../internal/lastFailure.ts"
import { fetchPause } from "../../internal/schedules.ts"
import type { FetchError } from "../../services/Content.ts"
import { type Changed, type ContentSource, SourceFailed } from "../../services/ContentSource.ts"

/** By the ids of sources; those that are not in it have not changed. */
export type Changes = ReadonlyMap<string, Exclude<Changed, "nothing">>

const none: Changes = new Map()

const changesIn = (answers: ReadonlyArray<{ readonly id: string; readonly changed: Changed }>): Changes =>
  new Map(
    answers.flatMap(({ changed, id }) =>
      changed === "nothing" || changed.length === 0 ? [] : [[id, changed]]
    )
  )

/** Everything of these sources. */
export const all = (ids: ReadonlyArray<string>): Changes => new Map(ids.map((id) => [id, "everything"]))

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

/** Before what failed for a reason that does not pass by itself is tried again, though nothing has changed. */
const lastingPause = Duration.minutes(10)

export const makePolling = (sources: ReadonlyArray<ContentSource>) => {
  const cursors = new Map<string, string>()
  /** Found, and in no version yet. */
  let found: Changes = none
  const failure = makeLastFailure<FetchError>((inRow) => (inRow === 0 ? lastingPause : fetchPause(inRow)))
  const failed = (error: FetchError) =>
    failure.failed(error, !("isTransient" in error && error.isTransient === true))

  const pollSource = ({ id, poll }: ContentSource) =>
    poll === undefined
      ? Effect.succeedNone
      : poll(Option.fromNullable(cursors.get(id))).pipe(
          Effect.catchAllDefect((cause) => new SourceFailed({ sourceId: id, cause })),
          Effect.map((changes) => Option.some({ id, ...changes }))
        )

  const poll = Effect.map(
    Effect.forEach(sources, pollSource, { concurrency: "unbounded" }),
    (polled): boolean => {
      const answers = polled.flatMap(Option.toArray)
      for (const { id, cursor } of answers) {
        cursors.set(id, cursor)
      }
      const changes = changesIn(answers)
      found = merge(found, changes)
      return changes.size > 0
    }
  )

  return {
    /** Whether something has changed since the poll before. */
    poll,

    hasPolled: () => cursors.size > 0,

    /** Adds to what has been found. */
    add: (changes: Changes): void => {
      found = merge(found, changes)
    },

    /** What has been found, for a version of it. */
    take: (): Changes => {
      const taken = found
      found = none
      return taken
    },

    isNothingFound: () => found.size === 0,

    /** What the last fetch failed with, where it is too early to try the same again. */
    refusal: Effect.map(
      failure.resting,
      Option.map(({ error }) => error)
    ),

    /** What a fetch has taken is found again if no version comes of it. */
    restoreOnFailure:
      (taken: () => Changes) =>
      <A>(fetch: Effect.Effect<A, FetchError>): Effect.Effect<A, FetchError> =>
        fetch.pipe(
          Effect.tapBoth({ onFailure: failed, onSuccess: () => failure.worked }),
          Effect.onError(() =>
            Effect.sync(() => {
              found = merge(taken(), found)
            })
          )
        )
  }
}
