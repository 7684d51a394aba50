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
import * as HashMap from "effect/HashMap"
import * as HashSet from "effect/HashSet"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import { isDiskFull } from "../../files/systemError.ts"
import { withoutParentSpan } from "../../internal/background.ts"
import { type ContentCounts, sumCounts } from "../../internal/contentCounts.ts"
import { monotonicMillis, type Now, now } from "../../internal/monotonicMillis.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import type { FetchError } from "../../services/Content.ts"
import type { ContentSource } from "../../services/ContentSource.ts"
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
import { fetchSource } from "./fetchSource.ts"
import type { Fetched, MakeProvider, Provider, Report } from "./Provider.ts"
import { type Changed, makePolling, type UnknownSince } from "./polling.ts"
import { makeSourceFailures, type SourceFailures } from "./sourceFailures.ts"

/** The pause between two polls while changes continue. */
const settlePause = Duration.seconds(1)

/** Fetches sources and promotes their content if it is new. While changes continue, waits for at most `settle`. */
export const fetchSources = (
  sources: ReadonlyArray<ContentSource>,
  settle: Duration.Duration,
  independent = false
): MakeProvider<never, VersionStore | FileSystem.FileSystem | Path.Path> =>
  Effect.fnUntraced(function* (report) {
    const services = yield* withoutParentSpan(
      Effect.context<VersionStore | FileSystem.FileSystem | Path.Path>()
    )
    const failures = yield* makeSourceFailures(sources)
    const polling = yield* makePolling(sources, independent ? failures : undefined)
    const known: KnownSources = { sources, independent, report, failures, polling, ...(yield* makeRead) }
    const keep = keepIn(known)
    /** Makes a version of the changed sources, unless `beforePromotion` fails after all are read. */
    const makeVersion = <E = never>(changed: Changed, beforePromotion: Effect.Effect<unknown, E>) =>
      Effect.provide(makeVersionOf(known, keep, changed, beforePromotion), services)
    const isPolled = sources.some(({ poll }) => poll !== undefined)
    return {
      sourceIds: idsOf(sources),
      notes: failures.notes,
      isRetried: Effect.map(failures.failing, (failing) => failing.some(({ error }) => error.isTransient)),
      fetch: polling.remember(fetchAll(known, makeVersion)),
      check: Effect.provide(checkSources(sources, keep), services),
      sample: (sourceId) => Effect.provide(sampleSource(sources, sourceId), services),
      accept: Object.fromEntries(
        sources.flatMap(({ accept, id }) => (accept === undefined ? [] : [[id, accept]]))
      ),
      poll: isPolled ? Effect.provide(pollAll(known), services) : undefined,
      fetchNew: isPolled ? polling.remember(fetchNew(known, makeVersion, settle)) : undefined,
      changes: Stream.mergeAll(
        Array.filterMap(sources, ({ changes }) => Option.fromNullable(changes)),
        { concurrency: "unbounded" }
      ),
      sourceData: sourceData(sources, polling)
    } satisfies Provider
  })

type Polling = Effect.Effect.Success<ReturnType<typeof makePolling>>

/** The sources of a content, and what is known of them. */
interface KnownSources {
  readonly sources: ReadonlyArray<ContentSource>
  readonly independent: boolean
  readonly report: Report
  readonly failures: SourceFailures
  readonly polling: Polling
  /** The counts of each source when it was last read. */
  readonly counts: Ref.Ref<ReadonlyMap<string, ContentCounts>>
  /** The failing sources in the outcome of the last fetch. */
  readonly said: Ref.Ref<ReadonlyArray<KeptSource>>
}

type MakeVersion = <E = never>(
  changed: Changed,
  beforePromotion: Effect.Effect<unknown, E>
) => Effect.Effect<Fetched, FetchError | E>

const makeRead: Effect.Effect<Pick<KnownSources, "counts" | "said">> = Effect.all({
  counts: Ref.make<ReadonlyMap<string, ContentCounts>>(new Map()),
  said: Ref.make<ReadonlyArray<KeptSource>>([])
})

const idsOf = Array.map(({ id }: ContentSource) => id)

const failing = ({ failures }: KnownSources) =>
  Effect.map(
    failures.failing,
    Array.map(({ kept }) => kept)
  )

/** Whether a poll has failed since the last fetch, or in another way. */
const hasUnsaid = (known: KnownSources) =>
  Effect.zipWith(failing(known), Ref.get(known.said), (failing, said) => !isDeepStrictEqual(failing, said))

/** A source as in the latest version, if its files are complete. */
const latestOf = ({ counts }: KnownSources, { id }: ContentSource, staged: StagedVersion) =>
  Effect.map(Ref.get(counts), (counts) =>
    Option.flatMap(staged.previous(id), ({ fingerprint, records, values }) =>
      Option.map(fingerprint, (fingerprint) => ({
        sourceId: id,
        fingerprint,
        ...(counts.get(id) ?? sumCounts([{ records, values }]))
      }))
    )
  )

const keepIn = (known: KnownSources): Keep =>
  Effect.fnUntraced(function* (source, staged, error) {
    const { failures, independent } = known
    if (!independent || isDiskFull(error)) return yield* error
    const latest = yield* latestOf(known, source, staged)
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
  known: KnownSources,
  keep: Keep,
  source: ContentSource,
  staged: StagedVersion,
  hasChanged: boolean
): Effect.fn.Return<VersionSource & ContentCounts, FetchError, FileSystem.FileSystem | Path.Path> {
  const { failures, independent, report } = known
  const failure = (yield* failures.failing).find(({ kept }) => kept.sourceId === source.id)
  const reused =
    failure === undefined
      ? yield* latestOf(known, source, staged)
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
  known: KnownSources,
  staged: StagedVersion,
  versions: ReadonlyArray<VersionSource & ContentCounts>
) {
  const { counts, failures, polling, said } = known
  const promotion = yield* staged.promote(versions)
  const { changed, manifest } = promotion
  yield* Effect.annotateCurrentSpan({ changed, versionId: manifest.versionId })
  yield* Ref.set(counts, new Map(versions.map((version) => [version.sourceId, sumCounts([version])])))
  const [ids, keptIds] = Array.partitionMap(versions, ({ keptSince, sourceId }) =>
    keptSince === undefined ? Either.left(sourceId) : Either.right(sourceId)
  )
  yield* failures.published(ids)
  yield* polling.add(keptIds)
  const all = yield* failing(known)
  yield* Ref.set(said, all)
  const kept = all.filter(({ sourceId }) => keptIds.includes(sourceId))
  return { ...promotion, ...sumCounts(versions), kept }
})

const makeVersionOf = <E>(
  known: KnownSources,
  keep: Keep,
  changed: Changed,
  beforePromotion: Effect.Effect<unknown, E>
) =>
  Effect.gen(function* () {
    const { failures, sources } = known
    const staged = yield* (yield* VersionStore).stage
    const fetched = yield* Effect.forEach(
      sources,
      (source) => takeOrFetch(known, keep, source, staged, HashSet.has(changed, source.id)),
      { concurrency: "unbounded" }
    )
    const [failure] = yield* failures.failing
    if (failure !== undefined && fetched.every(({ keptSince }) => keptSince !== undefined))
      yield* failure.error
    yield* beforePromotion
    return yield* promote(known, staged, fetched)
  }).pipe(Effect.scoped)

const fetchAll = ({ failures, polling, sources }: KnownSources, makeVersion: MakeVersion) =>
  Effect.gen(function* () {
    if (yield* polling.hasPolled) {
      yield* Effect.ignore(polling.poll)
    }
    yield* failures.hurry(idsOf(sources))
    yield* polling.add(idsOf(sources))
    return yield* polling.take((changed) => makeVersion(changed, Effect.void))
  })

const fetchNew = ({ counts, polling }: KnownSources, makeVersion: MakeVersion, settle: Duration.Duration) =>
  Effect.gen(function* () {
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

/** Polls the sources. Sources without a poll are fetched at each tick. */
const pollAll = (known: KnownSources) =>
  Effect.gen(function* () {
    const { polling, sources } = known
    const hasNew = yield* polling.poll
    yield* polling.add(idsOf(sources.filter(({ poll }) => poll === undefined)))
    if ((yield* (yield* VersionStore).manifest).status !== "ok") {
      yield* polling.add(idsOf(sources))
    }
    if (HashSet.size(yield* polling.due) === 0 && !(yield* hasUnsaid(known))) {
      const [unknown] = HashMap.values(yield* polling.unknown)
      return unknown ?? "same"
    }
    const refusal = yield* polling.refusal
    return hasNew || Option.isNone(refusal) ? "new" : yield* Effect.fail(refusal.value)
  })

/** The data of the sources for the state. */
const sourceData = (sources: ReadonlyArray<ContentSource>, polling: Polling) =>
  Effect.map(
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

/** Says that a failing source holds back the others, because nothing of it can be kept. */
const heldBack = (error: SourceError, why: string): SourceError =>
  new SourceError({
    ...error,
    cause: error.cause,
    detail: `${(error.detail ?? messageOf(error.cause)).replace(/(?<![.?!])$/, ".")} Changes of the other sources wait until this source works, because ${why}`
  })

/** The sources changed again while they were read. */
class StillChanging extends Data.TaggedError("vitrine/StillChanging") {}

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
