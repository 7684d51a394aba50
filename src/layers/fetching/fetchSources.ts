/**
 * Fetches sources into one version: all sources succeed, or nothing changes. Of independent sources, those that fail
 * keep what the latest version has of them.
 *
 * Sources with a cheap poll are fetched only after a change (docs/content.md, Airtable).
 */

import { isDeepStrictEqual } from "node:util"
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Array from "effect/Array"
import * as Boolean from "effect/Boolean"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as HashMap from "effect/HashMap"
import * as HashSet from "effect/HashSet"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import { isDiskFull } from "../../files/systemError.ts"
import { type ContentCounts, sumCounts } from "../../internal/contentCounts.ts"
import { monotonicMillis, type Now, now } from "../../internal/monotonicMillis.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import type { FetchError } from "../../services/Content.ts"
import type { ContentSource, SourceChanges, Unknown } from "../../services/ContentSource.ts"
import type { Problem } from "../../services/Problem.ts"
import { SourceError } from "../../services/SourceError.ts"
import {
  type KeptSource,
  type StagedVersion,
  type VersionSource,
  VersionStore
} from "../../services/VersionStore.ts"
import { reported } from "../status/slices.ts"
import { checkSources, type Keep, sampleSource } from "./checkSources.ts"
import { fetchSource, reportFailure } from "./fetchSource.ts"
import type { Fetched, MakeProvider, Provider } from "./Provider.ts"
import { lastFetchFailure, makeSourceFailures, type SourceFailures } from "./sourceFailures.ts"

/** The pause between two polls while changes continue. */
const settlePause = Duration.seconds(1)

/** Fetches sources and promotes their content if it is new. While changes continue, waits for at most `settle`. */
export const fetchSources = (
  sources: ReadonlyArray<ContentSource>,
  settle: Duration.Duration,
  independent = false
): MakeProvider<never, VersionStore | FileSystem.FileSystem | Path.Path> =>
  Effect.fnUntraced(function* (report) {
    const store = yield* VersionStore
    const services = yield* Effect.context<VersionStore | FileSystem.FileSystem | Path.Path>()
    const failures = yield* makeSourceFailures(sources)
    const polling = yield* makePolling(sources, independent ? failures : undefined)
    const sourceIds = sources.map(({ id }) => id)
    /** The counts of each source when it was last read. */
    const counts = yield* Ref.make<ReadonlyMap<string, ContentCounts>>(new Map())
    /** What the outcome of the last fetch said of sources that fail. */
    const said = yield* Ref.make<ReadonlyArray<KeptSource>>([])

    const failing = Effect.map(
      failures.failing,
      Array.map(({ kept }) => kept)
    )

    /** Whether a poll has failed since, or in another way. */
    const hasUnsaid = Effect.zipWith(
      failing,
      Ref.get(said),
      (failing, said) => !isDeepStrictEqual(failing, said)
    )

    /** A source as in the latest version, if its files are complete. */
    const latestOf = ({ id }: ContentSource, staged: StagedVersion) =>
      Effect.map(Ref.get(counts), (counts) =>
        Option.flatMap(staged.previous(id), ({ fingerprint, records, values }) =>
          Option.map(fingerprint, (fingerprint) => ({
            sourceId: id,
            fingerprint,
            ...(counts.get(id) ?? sumCounts([{ records, values }]))
          }))
        )
      )

    const keep: Keep = Effect.fnUntraced(function* (source, staged, error) {
      if (!independent || isDiskFull(error)) return yield* error
      const latest = yield* latestOf(source, staged)
      if (Option.isSome(latest) && (yield* failures.hasSameOptions(source))) {
        return { ...latest.value, keptSince: yield* failures.sinceOf(source.id) }
      }
      if (staged.previousIds.every((id) => id === source.id)) return yield* error
      return yield* heldBack(
        error,
        Option.isSome(latest)
          ? "its options have changed. Mend it, or go back to its former options"
          : 'the latest version has no content of it to keep. Mend it, or remove it from "sources" until it works'
      )
    })

    /** Reuses a source that has not changed, or that is independent and fails. Fetches any other. */
    const takeOrFetch = Effect.fnUntraced(function* (
      source: ContentSource,
      staged: StagedVersion,
      hasChanged: boolean
    ): Effect.fn.Return<VersionSource & ContentCounts, FetchError> {
      const failure = (yield* failures.failing).find(({ kept }) => kept.sourceId === source.id)
      const reused =
        failure === undefined
          ? yield* latestOf(source, staged)
          : yield* Effect.option(keep(source, staged, failure.error))
      return Option.isSome(reused) && !hasChanged
        ? reused.value
        : yield* fetchSource(source, staged, report).pipe(
            Effect.map(({ version }) => version),
            Effect.zipLeft(failures.worked(source.id)),
            Effect.catchTag("vitrine/SourceError", (error) =>
              independent
                ? Effect.zipRight(failures.failed(source.id, error), keep(source, staged, error))
                : error
            )
          )
    })

    const promote = Effect.fn("Content.promote")(function* (
      staged: StagedVersion,
      versions: ReadonlyArray<VersionSource & ContentCounts>
    ) {
      const promotion = yield* staged.promote(versions)
      const { changed, manifest } = promotion
      yield* Effect.annotateCurrentSpan({ changed, versionId: manifest.versionId })
      yield* Ref.set(counts, new Map(versions.map((version) => [version.sourceId, sumCounts([version])])))
      const [ids, keptIds] = Array.partitionMap(versions, ({ keptSince, sourceId }) =>
        keptSince === undefined ? Either.left(sourceId) : Either.right(sourceId)
      )
      yield* failures.published(ids)
      yield* polling.add(keptIds)
      const all = yield* failing
      yield* Ref.set(said, all)
      const kept = all.filter(({ sourceId }) => keptIds.includes(sourceId))
      return { ...promotion, ...sumCounts(versions), kept }
    })

    /** Makes a version of the changed sources, unless `beforePromotion` fails after all are read. */
    const makeVersion = <E = never>(changed: Changed, beforePromotion: Effect.Effect<unknown, E>) =>
      Effect.gen(function* () {
        const staged = yield* store.stage
        const fetched = yield* Effect.forEach(
          sources,
          (source) => takeOrFetch(source, staged, HashSet.has(changed, source.id)),
          { concurrency: "unbounded" }
        )
        const [failure] = yield* failures.failing
        if (failure !== undefined && fetched.every(({ keptSince }) => keptSince !== undefined))
          yield* failure.error
        yield* beforePromotion
        return yield* promote(staged, fetched)
      }).pipe(Effect.scoped)

    const fetchAll = Effect.gen(function* () {
      if (yield* polling.hasPolled) {
        yield* Effect.ignore(polling.poll)
      }
      yield* failures.hurry(sourceIds)
      yield* polling.add(sourceIds)
      return yield* polling.take((changed) => makeVersion(changed, Effect.void))
    })

    const fetchNew = Effect.gen(function* () {
      const latest = (yield* monotonicMillis) + Duration.toMillis(settle)
      const isFirst = (yield* Ref.get(counts)).size === 0
      const isChanging = Effect.flatMap(monotonicMillis, (now) =>
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
      if (HashSet.size(yield* polling.due) === 0 && !(yield* hasUnsaid)) {
        const [unknown] = HashMap.values(yield* polling.unknown)
        return unknown ?? "same"
      }
      const refusal = yield* polling.refusal
      return hasNew || Option.isNone(refusal) ? "new" : yield* Effect.fail(refusal.value)
    })

    return {
      sourceIds,
      notes: failures.notes,
      isRetried: Effect.map(failures.failing, (failing) => failing.some(({ error }) => error.isTransient)),
      fetch: polling.remember(fetchAll),
      check: Effect.provide(checkSources(sources, keep), services),
      sample: (sourceId) => Effect.provide(sampleSource(sources, sourceId), services),
      accept: Object.fromEntries(
        sources.flatMap(({ accept, id }) => (accept === undefined ? [] : [[id, accept]]))
      ),
      poll: unasked.length === sources.length ? undefined : poll,
      fetchNew: unasked.length === sources.length ? undefined : polling.remember(fetchNew),
      changes: Stream.mergeAll(
        Array.filterMap(sources, ({ changes }) => Option.fromNullable(changes)),
        {
          concurrency: "unbounded"
        }
      ),
      sourceData: Effect.map(
        Effect.all([
          Effect.all(
            Object.fromEntries(sources.flatMap(({ data, id }) => (data === undefined ? [] : [[id, data]])))
          ),
          polling.unknown,
          now
        ]),
        ([data, unknown, now]) => ({
          ...data,
          ...Object.fromEntries(
            [...unknown].map(([id, since]) => [
              id,
              withUnknown(
                id,
                Option.getOrElse(Record.get(data, id), () => ({})),
                since,
                now
              )
            ])
          )
        })
      )
    } satisfies Provider
  })

/** Says that a failing source holds back the others, because nothing of it can be kept. */
const heldBack = (error: SourceError, why: string): SourceError =>
  new SourceError({
    ...error,
    cause: error.cause,
    detail: `${(error.detail ?? messageOf(error.cause)).replace(/(?<![.?!])$/, ".")} Changes of the other sources wait until this source works, because ${why}`
  })

/** The sources changed again while they were read. */
class StillChanging extends Data.TaggedError("vitrine/StillChanging") {}

/** The ids of sources that have changed. */
type Changed = HashSet.HashSet<string>

/** What nobody can tell of a source, and since when. */
interface UnknownSince extends Unknown {
  readonly since: Now
}

/** How long it may be unknown whether a source has changed: usually, and while a file only grows. */
const patience = { usual: Duration.minutes(5), growing: Duration.hours(1) }

/** The data of a source with what is unknown: a row at first, then a problem. */
const withUnknown = (
  id: string,
  data: Readonly<Record<string, unknown>>,
  { isGrowing = false, reason, since: { monotonic, wall } }: UnknownSince,
  now: Now
): Readonly<Record<string, unknown>> => {
  const since = new Date(wall).toISOString()
  if (now.monotonic - monotonic < Duration.toMillis(isGrowing ? patience.growing : patience.usual)) {
    return { ...data, Changes: `not known since ${since}: ${reason}` }
  }
  const text = `Source "${id}": nobody can tell since ${since} whether it has changed, so it is not fetched: ${reason}`
  const problem: Problem = { code: "source:unknown", severity: "warning", subject: id, text, since }
  return { ...data, problems: [...reported(data), problem] }
}

/** What is known from the polls of the sources. */
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

/**
 * Polls sources for changes, and remembers the changes until a version has them. With `failures`, sources are
 * independent: the others count if one fails.
 */
export const makePolling = Effect.fnUntraced(function* (
  sources: ReadonlyArray<ContentSource>,
  failures?: SourceFailures
) {
  const polled = yield* Ref.make<Polled>({
    cursors: HashMap.empty(),
    found: HashSet.empty(),
    failed: HashSet.empty(),
    unknown: HashMap.empty()
  })
  const failure = lastFetchFailure<FetchError>()
  const paused = failures?.paused ?? Effect.succeed(HashSet.empty<string>())

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
