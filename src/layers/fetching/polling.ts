/**
 * Polls sources for changes, and remembers the changes until a version has them.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { fetchPause, makeLastFailure } from "../../internal/Schedules.ts"
import type { FetchError } from "../../services/Content.ts"
import type { ContentSource } from "../../services/ContentSource.ts"
import { SourceError } from "../../services/SourceError.ts"
import { reportFailure } from "./fetchSource.ts"

/** The ids of sources that have changed. */
export type Changed = ReadonlySet<string>

const none: Changed = new Set()

/** After a permanent failure, the pause before the next try if nothing has changed. */
const permanentPause = Duration.minutes(10)

interface State {
  /** Where the next poll begins, by source id. */
  readonly cursors: ReadonlyMap<string, string>
  readonly found: Changed
}

export const makePolling = Effect.fnUntraced(function* (sources: ReadonlyArray<ContentSource>) {
  const state = yield* Ref.make<State>({ cursors: new Map(), found: none })
  const failure = makeLastFailure<FetchError>((inRow) => (inRow === 0 ? permanentPause : fetchPause(inRow)))

  /** Sources that know of a failed poll: only a fetch tells them that they work again. */
  const failed = new Set<string>()

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
        if (!error.isTransient) failed.add(id)
        return reportFailure(source, error)
      })
    )
    return [{ id, ...changes, ...(failed.delete(id) ? { changed: "everything" as const } : {}) }]
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
    /** Polls all sources, and gives whether any has changed since the previous poll. */
    poll,

    hasPolled: Effect.map(Ref.get(state), ({ cursors }) => cursors.size > 0),

    /** The changes that are in no version yet. */
    found: Effect.map(Ref.get(state), ({ found }) => found),

    /** Adds changes. */
    add,

    /** Takes the changes for a new version. If `use` fails, they count as changes again. */
    take: <A, E>(use: (changed: Changed) => Effect.Effect<A, E>) =>
      Effect.flatMap(
        Ref.modify(state, ({ cursors, found }) => [found, { cursors, found: none }]),
        (changed) => Effect.onError(use(changed), () => add(changed))
      ),

    /** Remembers how a fetch ends, for `refusal`. */
    remember: <A>(fetch: Effect.Effect<A, FetchError>) =>
      Effect.tapBoth(fetch, {
        onFailure: (error) => failure.failed(error, !("isTransient" in error && error.isTransient === true)),
        onSuccess: () => failure.worked
      }),

    /** The error of the last fetch, while it is too early to try again. */
    refusal: Effect.map(
      failure.resting,
      Option.map(({ error }) => error)
    )
  }
})
