/**
 * The sources that fail: since when, why, and when each is fetched again. A file keeps, over restarts, since when, and
 * the options that the latest version has the content of each source with.
 */
import { isDeepStrictEqual } from "node:util"
import * as Array from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HashSet from "effect/HashSet"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as JsonFile from "../../files/JsonFile.ts"
import { fetchPause, makeLastFailure } from "../../internal/Schedules.ts"
import type { ContentSource } from "../../services/ContentSource.ts"
import type { SourceError } from "../../services/SourceError.ts"
import { VersionStore } from "../../services/VersionStore.ts"
import { bySource, fileIn, SourceNote } from "../versions/sourceNotes.ts"
import { timestamp } from "./contentState.ts"
import { withoutSource } from "./fetchSource.ts"

/** After a permanent failure, the pause before the next try if nothing has changed. */
const permanentPause = Duration.minutes(10)

export const lastFetchFailure = <E>() =>
  makeLastFailure<E>((inRow) => (inRow === 0 ? permanentPause : fetchPause(inRow)))

export type SourceFailures = Effect.Effect.Success<ReturnType<typeof makeSourceFailures>>

export const makeSourceFailures = Effect.fnUntraced(function* (sources: ReadonlyArray<ContentSource>) {
  const { directory } = yield* VersionStore
  const file = yield* JsonFile.make(fileIn(directory), SourceNote, {
    read: "it is not known since when sources fail",
    written: "a restart forgets since when sources fail"
  })
  const read = yield* file.read
  const known = yield* Ref.make(bySource(read))
  const oneAtATime = (yield* Effect.makeSemaphore(1)).withPermits(1)
  const options = new Map(sources.map(({ id, options }) => [id, options]))
  const failures = new Map(sources.map(({ id }) => [id, lastFetchFailure<SourceError>()]))

  const note = (ids: ReadonlyArray<string>, next: (before: SourceNote) => SourceNote) =>
    Effect.gen(function* () {
      const before = yield* Ref.get(known)
      const changed = ids.map((sourceId) => [sourceId, next(before.get(sourceId) ?? { sourceId })] as const)
      const after = new Map([...before, ...changed])
      yield* Ref.set(known, after)
      yield* isDeepStrictEqual(after, before) ? Effect.void : file.write([...after.values()])
    }).pipe(oneAtATime)

  return {
    notes: Ref.get(known),

    /** The sources whose last fetch or poll failed. */
    failing: Effect.forEach(failures, ([sourceId, { get }]) =>
      Effect.zipWith(get, Ref.get(known), (failure, known) =>
        Option.map(failure, ({ error }) => ({
          error,
          kept: { sourceId, since: known.get(sourceId)?.failingSince ?? "", message: withoutSource(error) }
        }))
      )
    ).pipe(Effect.map(Array.getSomes)),

    /** Since when it fails: since its first failure, or since now. */
    sinceOf: (id: string) =>
      Effect.zipWith(Ref.get(known), timestamp, (known, now) => known.get(id)?.failingSince ?? now),

    failed: Effect.fnUntraced(function* (id: string, error: SourceError) {
      const now = yield* timestamp
      yield* failures.get(id)?.failed(error, !error.isTransient) ?? Effect.void
      yield* note([id], ({ failingSince = now, ...before }) => ({ ...before, failingSince }))
    }),

    worked: (id: string) =>
      Effect.zipRight(
        failures.get(id)?.worked ?? Effect.void,
        note([id], ({ failingSince, ...before }) => before)
      ),

    /** Notes that the latest version has the content of these sources with their present options. */
    published: (ids: ReadonlyArray<string>) =>
      note(ids, (before) => ({ ...before, options: options.get(before.sourceId) ?? before.options })),

    /** Whether the latest version has its content with its present options, as far as is known. */
    hasSameOptions: ({ id, options }: ContentSource) =>
      Effect.map(Ref.get(known), (known) => {
        const before = known.get(id)?.options
        return before === undefined || options === undefined || before === options
      }),

    /** The sources that failed a short time ago, and are not fetched again yet. */
    paused: Effect.map(
      Effect.filter(failures, ([, { paused }]) => Effect.map(paused, Option.isSome)),
      (paused) => HashSet.fromIterable(paused.map(([id]) => id))
    ),

    /** Ends the pauses of these sources, because something has changed. */
    hurry: (ids: Iterable<string>) =>
      Effect.forEach(ids, (id) => failures.get(id)?.worked ?? Effect.void, { discard: true })
  }
})
