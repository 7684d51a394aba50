/**
 * Fetching sources into one version: all of them succeed, or nothing changes.
 *
 * Those that can be asked cheaply what has changed are only fetched where something has (docs/content.md, Airtable).
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
import * as Stream from "effect/Stream"
import type { Changed, ContentSource } from "../../services/ContentSource.ts"
import { type StagedVersion, type VersionSource, VersionStore } from "../../services/VersionStore.ts"
import { checkSources } from "./checkSources.ts"
import { fetchSource } from "./fetchSource.ts"
import type { MakeProvider, Provider } from "./Provider.ts"
import { all, type Changes, makePolling, merge } from "./polling.ts"
import { makeSample } from "./sampleSource.ts"

/** From one poll to the next while changes go on. */
const settlePause = Duration.seconds(1)

/** What the sources gave is promoted, if it is new. Changes that go on are waited for, for `settle` at most. */
export const fetchSources = (
  sources: ReadonlyArray<ContentSource>,
  settle: Duration.Duration
): MakeProvider<never, VersionStore | FileSystem.FileSystem | Path.Path> =>
  Effect.fnUntraced(function* (report) {
    const store = yield* VersionStore
    const polling = makePolling(sources)
    const sourceIds = sources.map(({ id }) => id)
    /** How many records the sources had when they were read last. */
    const records = new Map<string, number>()

    const fetchVersion = (source: ContentSource, staged: StagedVersion, changed: Changed) =>
      Effect.map(fetchSource(source, staged, changed, report), ({ version }) => version)

    /** What has not changed is taken over, where that is whole. */
    const takeOrFetch = (source: ContentSource, staged: StagedVersion, changed: Changed) =>
      Option.match(
        Option.flatMap(staged.previous(source.id), ({ fingerprint }) => fingerprint),
        {
          onNone: () => fetchVersion(source, staged, "everything"),
          onSome: (fingerprint) =>
            changed === "nothing"
              ? Effect.succeed({ sourceId: source.id, fingerprint, records: records.get(source.id) ?? 0 })
              : fetchVersion(source, staged, changed)
        }
      )

    const promote = Effect.fn("Content.promote")(function* (
      staged: StagedVersion,
      versions: ReadonlyArray<VersionSource & { readonly records: number }>
    ) {
      const promotion = yield* staged.promote(versions)
      const { changed, manifest } = promotion
      yield* Effect.annotateCurrentSpan({ changed, versionId: manifest.versionId })
      for (const version of versions) {
        records.set(version.sourceId, version.records)
      }
      return { ...promotion, records: versions.reduce((sum, { records }) => sum + records, 0) }
    })

    /** Makes a version of what has changed, unless `beforePromotion` fails when all of it is read. */
    const makeVersion = <E = never>(changes: Changes, beforePromotion: Effect.Effect<unknown, E>) =>
      Effect.gen(function* () {
        const staged = yield* store.stage
        const fetched = yield* Effect.forEach(
          sources,
          (source) => takeOrFetch(source, staged, changes.get(source.id) ?? "nothing"),
          { concurrency: "unbounded" }
        )
        yield* beforePromotion
        return yield* promote(staged, fetched)
      }).pipe(Effect.scoped)

    const fetchAll = Effect.gen(function* () {
      yield* polling.hasPolled() ? Effect.ignore(polling.poll) : Effect.void
      polling.take()
      const everything = all(sourceIds)
      return yield* polling.restoreOnFailure(() => everything)(makeVersion(everything, Effect.void))
    })

    const fetchNew = Effect.suspend(() => {
      let taken = polling.take()
      const makeSettled = Effect.gen(function* () {
        const latest = (yield* Clock.currentTimeMillis) + Duration.toMillis(settle)
        const isChanging = Effect.flatMap(Clock.currentTimeMillis, (now) =>
          // Where it cannot be asked, the next tick asks.
          now < latest ? Effect.orElseSucceed(polling.poll, () => false) : Effect.succeed(false)
        )
        // The first version need not wait.
        const check =
          records.size === 0 ? Effect.void : Effect.filterOrFail(isChanging, Boolean.not, stillChanging)
        const settled = isChanging.pipe(
          Effect.delay(settlePause),
          Effect.repeat({ while: (isChanging) => isChanging })
        )
        const attempt = Effect.suspend(() => makeVersion(taken, check)).pipe(
          Effect.asSome,
          Effect.catchTag("vitrine/StillChanging", () => Effect.succeedNone)
        )
        let made = yield* attempt
        while (Option.isNone(made)) {
          yield* settled
          taken = merge(taken, polling.take())
          made = yield* attempt
        }
        return made.value
      })
      return polling.restoreOnFailure(() => taken)(makeSettled)
    })

    /** Those that cannot be asked are fetched at each tick. */
    const unasked = all(sources.flatMap(({ id, poll }) => (poll === undefined ? [id] : [])))

    const poll = Effect.gen(function* () {
      const hasNew = yield* polling.poll
      polling.add(unasked)
      if ((yield* store.manifest).status !== "ok") {
        polling.add(all(sourceIds))
      }
      if (polling.isNothingFound()) {
        return "same"
      }
      const refusal = yield* polling.refusal
      return hasNew || Option.isNone(refusal) ? "new" : yield* Effect.fail(refusal.value)
    })

    return {
      sourceIds,
      fetch: fetchAll,
      check: yield* checkSources(sources),
      sample: yield* makeSample(sources),
      ...(unasked.size === sources.length ? {} : { poll, fetchNew }),
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

/** More has changed since the sources began to be read. */
class StillChanging extends Data.TaggedError("vitrine/StillChanging") {}

const stillChanging = () => new StillChanging()
