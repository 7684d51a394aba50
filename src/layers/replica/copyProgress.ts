/**
 * Reports the progress of a copy, source by source, in the same way as a fetch of sources.
 */

import * as Effect from "effect/Effect"
import type { FileList, ListedSource } from "../../files/FileList.ts"
import { sumCounts } from "../../internal/contentCounts.ts"
import { monotonicMillis } from "../../internal/monotonicMillis.ts"
import { serializeError } from "../../internal/SerializedError.ts"
import type { CopiedFile } from "../../services/VersionStore.ts"
import { setRecords, timestamp } from "../fetching/contentState.ts"
import type { Report } from "../fetching/Provider.ts"
import { makeDownloadCounter } from "../httpClient/downloadCounter.ts"

export const makeCopyProgress = Effect.fnUntraced(function* ({ sources }: FileList, report: Report) {
  const all = yield* Effect.forEach(sources, (source) => makeSourceProgress(source, report))
  const ofSource = new Map(sources.map(({ sourceId }, index) => [sourceId, all[index]]))

  return {
    /** The counts of the version. */
    counts: sumCounts(sources),

    start: Effect.forEach(all, ({ start }) => start, { discard: true }),

    /** Counts new bytes of a file. A negative number takes bytes back. */
    onBytes: ({ path, sourceId }: CopiedFile) =>
      ofSource.get(sourceId)?.counter.onBytes(path) ?? (() => Effect.void),

    downloaded: ({ path, sourceId }: CopiedFile) =>
      ofSource.get(sourceId)?.counter.fileDone(path) ?? Effect.void,

    reused: (files: ReadonlyArray<CopiedFile>) =>
      Effect.forEach(files, (file) => ofSource.get(file.sourceId)?.reused(file) ?? Effect.void, {
        discard: true
      }),

    failed: ({ sourceId }: CopiedFile, error: unknown) =>
      Effect.flatMap(timestamp, (timestamp) =>
        report({
          name: "content:source:error",
          payload: { timestamp, sourceId, error: serializeError(error) }
        })
      )
  }
})

const makeSourceProgress = Effect.fnUntraced(function* (source: ListedSource, report: Report) {
  const { sourceId } = source
  const files = Object.values(source.files)
  const total = files.length
  const totalBytes = files.reduce((sum, { size }) => sum + size, 0)
  const startedAt = yield* monotonicMillis
  let reused = 0

  const done = Effect.fnUntraced(function* (bytes: number) {
    const counts = sumCounts([source])
    yield* report({
      name: "content:source:done",
      payload: {
        timestamp: yield* timestamp,
        sourceId,
        ...counts,
        bytes,
        attachments: { total, bytes, reused },
        durationMs: (yield* monotonicMillis) - startedAt
      }
    })
    yield* setRecords(sourceId, counts.records)
  })

  const counter = yield* makeDownloadCounter<string>(total, { done: 0, bytes: 0 }, (document, progress) =>
    Effect.zipRight(
      report({
        name: "content:source:progress",
        payload: {
          sourceId,
          document,
          documents: { done: progress.done, total },
          records: source.records ?? 0,
          attachments: { ...progress, totalBytes }
        }
      }),
      progress.done === total ? done(progress.bytes) : Effect.void
    )
  )

  return {
    counter,

    start: Effect.gen(function* () {
      yield* report({ name: "content:source:start", payload: { timestamp: yield* timestamp, sourceId } })
      const [path] = Object.keys(source.files)
      yield* path === undefined ? done(0) : counter.report(path)
    }),

    reused: ({ path, size }: CopiedFile) =>
      Effect.suspend(() => {
        reused++
        return counter.fileKept(path, size)
      })
  }
})
