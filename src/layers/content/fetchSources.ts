/**
 * Fetching all sources into one version: all of them succeed, or nothing changes.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import { serializeError } from "../../internal/SerializedError.ts"
import type { Changes, ContentCheck } from "../../services/ContentCheck.ts"
import {
  type ContentSource,
  SourceFailed,
  type SourceFile,
  type SourceProgress
} from "../../services/ContentSource.ts"
import { type StagedVersion, type VersionSource, VersionStore } from "../../services/VersionStore.ts"
import { setRecords } from "./metrics.ts"
import type { MakeOrigin, Origin } from "./Origin.ts"
import { type Report, timestamp } from "./report.ts"
import { violationsOf } from "./violationsOf.ts"

/** What the sources gave is promoted, if it is new. */
export const fetchSources = (sources: ReadonlyArray<ContentSource>): MakeOrigin<never, VersionStore> =>
  Effect.fnUntraced(function* (report) {
    const store = yield* VersionStore

    const fetchSource = Effect.fn("Content.fetchSource")(
      function* (source: ContentSource, staged: StagedVersion, report: Report) {
        const sourceId = source.id
        yield* Effect.annotateCurrentSpan("source", sourceId)
        yield* report({ name: "content:source:start", payload: { timestamp: yield* timestamp, sourceId } })
        const directory = yield* staged.sourceDirectory(sourceId)
        const progress = (progress: SourceProgress) =>
          report({ name: "content:source:progress", payload: { sourceId, ...progress } })
        const [duration, { digests, fingerprint, ...counts }] = yield* Effect.timed(
          source
            .fetch({ directory, previous: staged.previous(sourceId), progress })
            .pipe(Effect.catchAllDefect((cause) => new SourceFailed({ sourceId, cause })))
        )
        yield* report({
          name: "content:source:done",
          payload: {
            timestamp: yield* timestamp,
            sourceId,
            ...counts,
            durationMs: Math.round(Duration.toMillis(duration))
          }
        })
        const { attachments, bytes, records } = counts
        yield* Effect.annotateCurrentSpan({ records, bytes, attachments: attachments?.total ?? 0 })
        yield* setRecords(sourceId, records)
        return {
          version: { sourceId, fingerprint, records, ...(digests === undefined ? {} : { digests }) },
          directory,
          records,
          ...(counts.warnings === undefined ? {} : { warnings: counts.warnings })
        }
      },
      (effect, { id: sourceId }, _, report) =>
        Effect.tapError(effect, (error) =>
          Effect.gen(function* () {
            const failure = { timestamp: yield* timestamp, sourceId, error: serializeError(error) }
            yield* report({ name: "content:source:error", payload: failure })
            const violations = violationsOf(error)
            if (violations !== undefined) {
              yield* report({ name: "content:version:rejected", payload: { ...failure, violations } })
            }
          })
        )
    )

    const promote = Effect.fn("Content.promote")(function* (
      staged: StagedVersion,
      versions: ReadonlyArray<VersionSource>
    ) {
      const promotion = yield* staged.promote(versions)
      const { changed, manifest } = promotion
      yield* Effect.annotateCurrentSpan({ changed, versionId: manifest.versionId })
      return promotion
    })

    const fetch = Effect.gen(function* () {
      const staged = yield* store.stage
      const fetched = yield* Effect.forEach(sources, (source) => fetchSource(source, staged, report), {
        concurrency: "unbounded"
      })
      const promotion = yield* promote(
        staged,
        fetched.map(({ version }) => version)
      )
      return { ...promotion, records: fetched.reduce((sum, { records }) => sum + records, 0) }
    }).pipe(Effect.scoped)

    const checkSource = Effect.fnUntraced(function* (source: ContentSource, staged: StagedVersion) {
      const { directory, version, ...found } = yield* fetchSource(source, staged, () => Effect.void)
      const { sourceId } = version
      const previous = staged.previous(sourceId)
      const isSame = Option.exists(previous, ({ fingerprint }) =>
        Option.contains(fingerprint, version.fingerprint)
      )
      if (isSame) {
        return { sourceId, changed: false, ...found, files: noChanges }
      }
      const documents = yield* source.compare?.({ directory, previous }) ?? Effect.succeed(undefined)
      const paths = new Set(documents?.map(({ path }) => path))
      const others = (files: Files) => Record.filter(files, (_, path) => !paths.has(path))
      const before = Option.match(previous, { onNone: () => ({}), onSome: ({ files }) => files })
      return {
        sourceId,
        changed: true,
        ...found,
        ...(documents === undefined ? {} : { documents }),
        files: changedFiles(others(before), others(yield* staged.files(version)))
      }
    })

    const check = Effect.gen(function* () {
      const staged = yield* store.stage
      return {
        sources: yield* Effect.forEach(sources, (source) => checkSource(source, staged), {
          concurrency: "unbounded"
        })
      } satisfies ContentCheck
    }).pipe(Effect.scoped, Effect.withSpan("Content.check"))

    return { sourceIds: sources.map(({ id }) => id), fetch, check } satisfies Origin
  })

type Files = Record.ReadonlyRecord<string, SourceFile>

const noChanges: Changes = { added: 0, changed: 0, removed: 0 }

const changedFiles = (before: Files, after: Files): Changes => {
  const names = Object.keys(after)
  const kept = names.filter((name) => Object.hasOwn(before, name))
  return {
    added: names.length - kept.length,
    changed: kept.filter((name) => before[name]?.sha256 !== after[name]?.sha256).length,
    removed: Object.keys(before).length - kept.length
  }
}
