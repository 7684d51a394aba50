/**
 * Fetching all sources into one version: all of them succeed, or nothing changes.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { serializeError } from "../../internal/SerializedError.ts"
import { type ContentSource, SourceFailed, type SourceProgress } from "../../services/ContentSource.ts"
import { type StagedVersion, type VersionSource, VersionStore } from "../../services/VersionStore.ts"
import { setRecords } from "./metrics.ts"
import type { MakeOrigin, Origin } from "./Origin.ts"
import { timestamp } from "./report.ts"
import { violationsOf } from "./violationsOf.ts"

/** What the sources gave is promoted, if it is new. */
export const fetchSources = (sources: ReadonlyArray<ContentSource>): MakeOrigin<never, VersionStore> =>
  Effect.fnUntraced(function* (report) {
    const store = yield* VersionStore

    const fetchSource = Effect.fn("Content.fetchSource")(
      function* (source: ContentSource, staged: StagedVersion) {
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
        return { sourceId, fingerprint, records, ...(digests === undefined ? {} : { digests }) }
      },
      (effect, { id: sourceId }) =>
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
      const fetched = yield* Effect.forEach(sources, (source) => fetchSource(source, staged), {
        concurrency: "unbounded"
      })
      const promotion = yield* promote(staged, fetched)
      return { ...promotion, records: fetched.reduce((sum, { records }) => sum + records, 0) }
    }).pipe(Effect.scoped)

    return { sourceIds: sources.map(({ id }) => id), fetch } satisfies Origin
  })
