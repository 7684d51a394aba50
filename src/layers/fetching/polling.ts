/**
 * Polls sources for changes, and remembers the changes until a version has them.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HashMap from "effect/HashMap"
import * as HashSet from "effect/HashSet"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Ref from "effect/Ref"
import { type Now, now } from "../../internal/monotonicMillis.ts"
import type { FetchError } from "../../services/Content.ts"
import type { ContentSource, SourceChanges, Unknown } from "../../services/ContentSource.ts"
import { SourceError } from "../../services/SourceError.ts"
import { reportFailure } from "./fetchSource.ts"
import { lastFetchFailure, type SourceFailures } from "./sourceFailures.ts"

/** The ids of sources that have changed. */
export type Changed = HashSet.HashSet<string>

/** Why nobody can tell whether a source has changed, and since when. */
export interface UnknownSince extends Unknown {
  readonly since: Now
}

/** The results of the polls of the sources. */
interface Polled {
  /** Where the next poll of each source begins. */
  readonly cursors: HashMap.HashMap<string, string>
  /** The changes that are in no version yet. */
  readonly found: Changed
  /** Sources that know of a failed poll: only a fetch tells them that they work again. */
  readonly failed: HashSet.HashSet<string>
  /** Sources whose last poll could not tell. */
  readonly unknown: HashMap.HashMap<string, UnknownSince>
}

/** Keeps what the answers of polls say. */
const makePolled = Effect.fnUntraced(function* (failures: SourceFailures | undefined) {
  const polled = yield* Ref.make<Polled>({
    cursors: HashMap.empty(),
    found: HashSet.empty(),
    failed: HashSet.empty(),
    unknown: HashMap.empty()
  })

  const add = (changed: Iterable<string>) =>
    Ref.update(polled, (before) => ({ ...before, found: HashSet.union(before.found, changed) }))

  const notKnown = (id: string, unknown: Unknown, now: Now) =>
    Ref.update(polled, (before) => {
      const since = Option.match(HashMap.get(before.unknown, id), {
        onNone: () => now,
        onSome: ({ since }) => since
      })
      return { ...before, unknown: HashMap.set(before.unknown, id, { ...unknown, since }) }
    })

  const known = (id: string, hasNew: boolean, cursor: string) =>
    Ref.modify(polled, ({ cursors, failed, found, unknown }) => {
      const hasChanged = hasNew || HashSet.has(failed, id)
      return [
        hasChanged,
        {
          cursors: HashMap.set(cursors, id, cursor),
          found: hasChanged ? HashSet.add(found, id) : found,
          failed: HashSet.remove(failed, id),
          unknown: HashMap.remove(unknown, id)
        }
      ]
    }).pipe(Effect.tap((hasChanged) => (hasChanged ? failures?.hurry([id]) : undefined) ?? Effect.void))

  const answered = (id: string, { changed, cursor }: SourceChanges) =>
    Predicate.isString(changed)
      ? known(id, changed !== "nothing", cursor)
      : Effect.as(
          Effect.flatMap(now, (now) => notKnown(id, changed, now)),
          false
        )

  const refused = (source: ContentSource, error: SourceError) =>
    Effect.unless(
      Ref.update(polled, (before) => ({ ...before, failed: HashSet.add(before.failed, source.id) })),
      () => error.isTransient && failures === undefined
    ).pipe(
      Effect.zipRight(failures?.failed(source.id, error) ?? Effect.void),
      Effect.zipRight(reportFailure(source, error))
    )

  return { polled, add, answered, refused }
})

/**
 * Polls sources for changes, and remembers the changes until a version has them. With `failures`, sources are
 * independent: the others count if one fails.
 */
export const makePolling = Effect.fnUntraced(function* (
  sources: ReadonlyArray<ContentSource>,
  failures?: SourceFailures
) {
  const { add, answered, polled, refused } = yield* makePolled(failures)
  const failure = lastFetchFailure<FetchError>()
  const paused = failures?.paused ?? Effect.succeed(HashSet.empty<string>())

  /** Whether the source has changed since its previous poll. */
  const pollSource = Effect.fnUntraced(function* (source: ContentSource) {
    const { id, poll } = source
    if (poll === undefined) {
      return false
    }
    const { cursors } = yield* Ref.get(polled)
    const changes = yield* poll(HashMap.get(cursors, id)).pipe(
      Effect.catchAllDefect((cause) => new SourceError({ source: id, cause })),
      Effect.tapError((error) => refused(source, error))
    )
    return yield* answered(id, changes)
  })

  return {
    /**
     * Polls all sources, and gives whether any has changed since the previous poll. If any fails, the others count, and
     * it fails; if sources are independent, only if all fail.
     */
    poll: Effect.gen(function* () {
      const [failed, answers] = yield* Effect.partition(sources, pollSource, { concurrency: "unbounded" })
      const [error] = failed
      return error === undefined || (failures !== undefined && answers.length > 0)
        ? answers.includes(true)
        : yield* error
    }),

    hasPolled: Effect.map(Ref.get(polled), ({ cursors }) => HashMap.size(cursors) > 0),

    /** The sources whose last poll could not tell, by their ids. */
    unknown: Effect.map(Ref.get(polled), ({ unknown }) => unknown),

    /** The changes that are in no version yet. */
    found: Effect.map(Ref.get(polled), ({ found }) => found),

    /** The changes without those of sources that failed a short time ago. */
    due: Effect.zipWith(Ref.get(polled), paused, ({ found }, paused) => HashSet.difference(found, paused)),

    /** Adds changes. */
    add,

    /** Takes the due changes for a new version. If `use` fails, they count as changes again. */
    take: <A, E>(use: (changed: Changed) => Effect.Effect<A, E>) =>
      Effect.acquireUseRelease(
        Effect.flatMap(paused, (paused) =>
          Ref.modify(polled, ({ found, ...before }) => [
            HashSet.difference(found, paused),
            { ...before, found: HashSet.intersection(found, paused) }
          ])
        ),
        use,
        (changed, exit) => (Exit.isSuccess(exit) ? Effect.void : add(changed))
      ),

    /** Remembers how a fetch ends, for `refusal`. */
    remember: <A>(fetch: Effect.Effect<A, FetchError>) =>
      Effect.tapBoth(fetch, {
        onFailure: (error) => failure.failed(error, !error.isTransient),
        onSuccess: () => failure.worked
      }),

    /** The error of the last fetch, while it is too early to try again. */
    refusal: Effect.map(
      failure.paused,
      Option.map(({ error }) => error)
    )
  }
})
