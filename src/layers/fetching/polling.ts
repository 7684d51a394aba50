/**
 * Asking sources whether anything has changed, and remembering what has until it is in a version.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { makeLastFailure } from "../../internal/lastFailure.ts"
import { fetchPause } from "../../internal/Schedules.ts"
import type { FetchError } from "../../services/Content.ts"
import type { ContentSource } from "../../services/ContentSource.ts"
import { SourceError } from "../../services/SourceError.ts"
import { reportFailure } from "./fetchSource.ts"

/** The ids of sources that have changed. */
export type Changed = ReadonlySet<string>

const none: Changed = new Set()

/** Before what failed for a reason that does not pass by itself is tried again, though nothing has changed. */
const lastingPause = Duration.minutes(10)

interface State {
  /** By the ids of sources: where the next poll begins. */
  readonly cursors: ReadonlyMap<string, string>
  readonly found: Changed
}

export const makePolling = Effect.fnUntraced(function* (sources: ReadonlyArray<ContentSource>) {
  const state = yield* Ref.make<State>({ cursors: new Map(), found: none })
  const failure = makeLastFailure<FetchError>((inRow) => (inRow === 0 ? lastingPause : fetchPause(inRow)))

  /** Sources that were told of a poll that failed: a fetch tells them when all is right. */
  const told = new Set<string>()

  const pollSource = Effect.fnUntraced(function* (source: ContentSource) {
    const { id, poll } = source
    if (poll === undefined) {
      return []
    }
    const { cursors } = yield* Ref.get(state)
    const changes = yield* Effect.catchAllDefect(
      poll(Option.fromNullable(cursors.get(id))),
      (cause) => new SourceError({ source: id, cause })
    ).pipe(
      Effect.tapError((error) => {
        if (!error.isTransient) told.add(id)
        return reportFailure(source, error)
      })
    )
    return [{ id, ...changes, ...(told.delete(id) ? { changed: "everything" as const } : {}) }]
  })

  const poll = Effect.gen(function* () {
    const polled = yield* Effect.forEach(sources, pollSource, { concurrency: "unbounded" })
    const answers = polled.flat()
    const changed = answers.flatMap(({ changed, id }) => (changed === "nothing" ? [] : [id]))
    yield* Ref.update(state, ({ cursors, found }) => ({
      cursors: new Map([...cursors, ...answers.map(({ cursor, id }) => [id, cursor] as const)]),
      found: new Set([...found, ...changed])
    }))
    return changed.length > 0
  })

  const add = (changed: Iterable<string>) =>
    Ref.update(state, ({ cursors, found }) => ({ cursors, found: new Set([...found, ...changed]) }))

  return {
    /** Whether something has changed since the poll before. */
    poll,

    hasPolled: Effect.map(Ref.get(state), ({ cursors }) => cursors.size > 0),

    /** What has been found, and is in no version yet. */
    found: Effect.map(Ref.get(state), ({ found }) => found),

    /** Adds to what has been found. */
    add,

    /** Takes what has been found for a version of it. It is found again if no version comes of it. */
    take: <A, E>(use: (changed: Changed) => Effect.Effect<A, E>) =>
      Effect.flatMap(
        Ref.modify(state, ({ cursors, found }) => [found, { cursors, found: none }]),
        (taken) => Effect.onError(use(taken), () => add(taken))
      ),

    /** Remembers how a fetch ends, for `refusal`. */
    remember: <A>(fetch: Effect.Effect<A, FetchError>) =>
      Effect.tapBoth(fetch, {
        onFailure: (error) => failure.failed(error, !("isTransient" in error && error.isTransient === true)),
        onSuccess: () => failure.worked
      }),

    /** What the last fetch failed with, where it is too early to try the same again. */
    refusal: Effect.map(
      failure.resting,
      Option.map(({ error }) => error)
    )
  }
})
