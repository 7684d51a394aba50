/**
 * Fetches sources into one version: all sources succeed, or nothing changes.
 *
 * Sources with a cheap poll are fetched only after a change (docs/content.md, Airtable).
 */

import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Array from "effect/Array"
import * as Boolean from "effect/Boolean"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import { type ContentCounts, sumCounts } from "../../internal/contentCounts.ts"
import { fetchPause, makeLastFailure } from "../../internal/Schedules.ts"
import type { FetchError } from "../../services/Content.ts"
import type { ContentSource } from "../../services/ContentSource.ts"
import { SourceError } from "../../services/SourceError.ts"
import { type StagedVersion, type VersionSource, VersionStore } from "../../services/VersionStore.ts"
import { checkSources, sampleSource } from "./checkSources.ts"
import { fetchSource, reportFailure } from "./fetchSource.ts"
import type { Fetched, MakeProvider, Provider } from "./makeContent.ts"

/** The pause between two polls while changes continue. */
const settlePause = Duration.seconds(1)

/** Fetches sources and promotes their content if it is new. While changes continue, waits for at most `settle`. */
export const fetchSources = (
  sources: ReadonlyArray<ContentSource>,
  settle: Duration.Duration
): MakeProvider<never, VersionStore | FileSystem.FileSystem | Path.Path> =>
  Effect.fnUntraced(function* (report) {
    const store = yield* VersionStore
    const services = yield* Effect.context<VersionStore | FileSystem.FileSystem | Path.Path>()
    const polling = yield* makePolling(sources)
    const sourceIds = sources.map(({ id }) => id)
    /** The counts of each source when it was last read. */
    const counts = yield* Ref.make<ReadonlyMap<string, ContentCounts>>(new Map())

    /** Reuses an unchanged source if its files are complete, or else fetches it. */
    const takeOrFetch = Effect.fnUntraced(function* (
      source: ContentSource,
      staged: StagedVersion,
      hasChanged: boolean
    ) {
      const previous = Option.flatMap(staged.previous(source.id), ({ fingerprint }) => fingerprint)
      if (Option.isNone(previous) || hasChanged) {
        return (yield* fetchSource(source, staged, report)).version
      }
      const known = yield* Ref.get(counts)
      return { ...(known.get(source.id) ?? { records: 0 }), sourceId: source.id, fingerprint: previous.value }
    })

    const promote = Effect.fn("Content.promote")(function* (
      staged: StagedVersion,
      versions: ReadonlyArray<VersionSource & ContentCounts>
    ) {
      const promotion = yield* staged.promote(versions)
      const { changed, manifest } = promotion
      yield* Effect.annotateCurrentSpan({ changed, versionId: manifest.versionId })
      yield* Ref.set(counts, new Map(versions.map((version) => [version.sourceId, sumCounts([version])])))
      return { ...promotion, ...sumCounts(versions) }
    })

    /** Makes a version of the changed sources, unless `beforePromotion` fails after all are read. */
    const makeVersion = <E = never>(changed: Changed, beforePromotion: Effect.Effect<unknown, E>) =>
      Effect.gen(function* () {
        const staged = yield* store.stage
        const fetched = yield* Effect.forEach(
          sources,
          (source) => takeOrFetch(source, staged, changed.has(source.id)),
          { concurrency: "unbounded" }
        )
        yield* beforePromotion
        return yield* promote(staged, fetched)
      }).pipe(Effect.scoped)

    const fetchAll = Effect.gen(function* () {
      if (yield* polling.hasPolled) {
        yield* Effect.ignore(polling.poll)
      }
      yield* polling.add(sourceIds)
      return yield* polling.take((changed) => makeVersion(changed, Effect.void))
    })

    const fetchNew = Effect.gen(function* () {
      const latest = (yield* Clock.currentTimeMillis) + Duration.toMillis(settle)
      const isFirst = (yield* Ref.get(counts)).size === 0
      const isChanging = Effect.flatMap(Clock.currentTimeMillis, (now) =>
        // If the poll fails, the next tick polls.
        now < latest ? Effect.orElseSucceed(polling.poll, () => false) : Effect.succeed(false)
      )
      const settled = isChanging.pipe(
        Effect.delay(settlePause),
        Effect.repeat({ while: (isChanging) => isChanging })
      )
      const check = Effect.filterOrFail(isChanging, Boolean.not, () => new StillChanging())
      const attempt: Effect.Effect<Fetched, FetchError> = polling
        // The first version does not wait for further changes.
        .take((changed) => makeVersion(changed, isFirst ? Effect.void : check))
        .pipe(Effect.catchTag("vitrine/StillChanging", () => Effect.zipRight(settled, attempt)))
      return yield* attempt
    })

    /** Sources without a poll are fetched at each tick. */
    const unasked = sources.flatMap(({ id, poll }) => (poll === undefined ? [id] : []))

    const poll = Effect.gen(function* () {
      const hasNew = yield* polling.poll
      yield* polling.add(unasked)
      if ((yield* store.manifest).status !== "ok") {
        yield* polling.add(sourceIds)
      }
      if ((yield* polling.found).size === 0) {
        return "same"
      }
      const refusal = yield* polling.refusal
      return hasNew || Option.isNone(refusal) ? "new" : yield* Effect.fail(refusal.value)
    })

    return {
      sourceIds,
      fetch: polling.remember(fetchAll),
      check: Effect.provide(checkSources(sources), services),
      sample: (sourceId) => Effect.provide(sampleSource(sources, sourceId), services),
      ...(unasked.length === sources.length ? {} : { poll, fetchNew: polling.remember(fetchNew) }),
      changes: Stream.mergeAll(
        Array.filterMap(sources, ({ changes }) => Option.fromNullable(changes)),
        {
          concurrency: "unbounded"
        }
      ),
      sourceData: Effect.all(
        Object.fromEntries(sources.flatMap(({ data, id }) => (data === undefined ? [] : [[id, data]])))
      )
    } satisfies Provider
  })

/** The sources changed again while they were read. */
class StillChanging extends Data.TaggedError("vitrine/StillChanging") {}

/** The ids of sources that have changed. */
type Changed = ReadonlySet<string>

/** After a permanent failure, the pause before the next try if nothing has changed. */
const permanentPause = Duration.minutes(10)

/** Polls sources for changes, and remembers the changes until a version has them. */
export const makePolling = Effect.fnUntraced(function* (sources: ReadonlyArray<ContentSource>) {
  /** Where the next poll of each source begins. */
  const cursors = yield* Ref.make<ReadonlyMap<string, string>>(new Map())
  const found = yield* Ref.make<Changed>(new Set())
  const failure = makeLastFailure<FetchError>((inRow) => (inRow === 0 ? permanentPause : fetchPause(inRow)))

  /** Sources that know of a failed poll: only a fetch tells them that they work again. */
  const failed = yield* Ref.make<Changed>(new Set())

  const pollSource = Effect.fnUntraced(function* (source: ContentSource) {
    const { id, poll } = source
    if (poll === undefined) {
      return []
    }
    const cursor = Option.fromNullable((yield* Ref.get(cursors)).get(id))
    const changes = yield* poll(cursor).pipe(
      Effect.catchAllDefect((cause) => new SourceError({ source: id, cause })),
      Effect.tapError((error) =>
        Effect.zipRight(
          Effect.unless(
            Ref.update(failed, (before) => new Set([...before, id])),
            () => error.isTransient
          ),
          reportFailure(source, error)
        )
      )
    )
    const hasFailed = (yield* Ref.get(failed)).has(id)
    return [{ id, ...changes, ...(hasFailed ? { changed: "everything" as const } : {}) }]
  })

  const add = (changed: Iterable<string>) => Ref.update(found, (before) => new Set([...before, ...changed]))

  const poll = Effect.gen(function* () {
    const answers = (yield* Effect.forEach(sources, pollSource, { concurrency: "unbounded" })).flat()
    const changed = answers.flatMap(({ changed, id }) => (changed === "nothing" ? [] : [id]))
    // Before the cursors: after an interruption in between, changes come twice, and none is lost.
    yield* add(changed)
    const working = new Set(answers.map(({ id }) => id))
    yield* Ref.update(failed, (before) => new Set([...before].filter((id) => !working.has(id))))
    yield* Ref.update(
      cursors,
      (before) => new Map([...before, ...answers.map(({ cursor, id }) => [id, cursor] as const)])
    )
    return changed.length > 0
  })

  return {
    /** Polls all sources, and gives whether any has changed since the previous poll. */
    poll,

    hasPolled: Effect.map(Ref.get(cursors), ({ size }) => size > 0),

    /** The changes that are in no version yet. */
    found: Ref.get(found),

    /** Adds changes. */
    add,

    /** Takes the changes for a new version. If `use` fails, they count as changes again. */
    take: <A, E>(use: (changed: Changed) => Effect.Effect<A, E>) =>
      Effect.flatMap(Ref.getAndSet(found, new Set()), (changed) =>
        Effect.onError(use(changed), () => add(changed))
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
