/**
 * Reports the progress of a copy, source by source, in the same way as a fetch of sources.
 */

import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import type { FileList, ListedSource } from "../../files/FileList.ts"
import { sumCounts } from "../../internal/contentCounts.ts"
import { unsafeMonotonicMillis } from "../../internal/monotonicMillis.ts"
import { serializeError } from "../../internal/SerializedError.ts"
import type { CopiedFile } from "../../services/VersionStore.ts"
import { type Report, setRecords, timestamp } from "../fetching/contentState.ts"

/** Milliseconds between two reports of a source, however many files it has. */
const reportEvery = 1000

/** The progress of a source: the files that are here, how many of them were here before, and bytes. */
interface Counter {
  readonly source: ListedSource
  readonly total: number
  readonly totalBytes: number
  /** Monotonic, as `reportedAt`. */
  readonly startedAt: number
  done: number
  reused: number
  bytes: number
  reportedAt: number
}

/** A step of the work: a file, and the new counts of its source. */
interface Step extends Pick<CopiedFile, "path" | "sourceId"> {
  readonly bytes?: number
  readonly downloaded?: number
  readonly reused?: number
}

const bytesOf = (files: ReadonlyArray<{ readonly size: number }>): number =>
  files.reduce((sum, { size }) => sum + size, 0)

export const makeCopyProgress = Effect.fnUntraced(function* ({ sources }: FileList, report: Report) {
  const clock = yield* Effect.clock
  const counters = new Map(
    sources.map((source): [string, Counter] => {
      const files = Object.values(source.files)
      const startedAt = unsafeMonotonicMillis(clock)
      const sizes = { total: files.length, totalBytes: bytesOf(files) }
      return [
        source.sourceId,
        { source, ...sizes, startedAt, done: 0, reused: 0, bytes: 0, reportedAt: Number.NEGATIVE_INFINITY }
      ]
    })
  )

  const reportProgress = (path: string, counter: Counter) => {
    const { bytes, done, source, total, totalBytes } = counter
    counter.reportedAt = unsafeMonotonicMillis(clock)
    return report({
      name: "content:source:progress",
      payload: {
        sourceId: source.sourceId,
        document: path,
        documents: { done, total },
        records: source.records ?? 0,
        attachments: { done, total, bytes, totalBytes }
      }
    })
  }

  const reportDone = Effect.fnUntraced(function* ({ bytes, reused, source, startedAt, total }: Counter) {
    const { sourceId } = source
    const counts = sumCounts([source])
    yield* report({
      name: "content:source:done",
      payload: {
        timestamp: yield* timestamp,
        sourceId,
        ...counts,
        bytes,
        attachments: { total, bytes, reused },
        durationMs: unsafeMonotonicMillis(clock) - startedAt
      }
    })
    yield* setRecords(sourceId, counts.records)
  })

  const addProgress = Effect.fnUntraced(function* ({
    bytes = 0,
    downloaded = 0,
    path,
    reused = 0,
    sourceId
  }: Step) {
    const counter = counters.get(sourceId)
    if (counter === undefined) return
    counter.bytes += bytes
    counter.reused += reused
    counter.done += downloaded + reused
    // Reports take time, in which other files of the source are counted.
    const isLast = downloaded + reused > 0 && counter.done === counter.total
    if (unsafeMonotonicMillis(clock) - counter.reportedAt >= reportEvery) {
      yield* reportProgress(path, counter)
    }
    yield* isLast ? reportDone(counter) : Effect.void
  })

  return {
    /** The counts of the version. */
    counts: sumCounts(sources),

    start: Effect.forEach(
      counters.values(),
      Effect.fnUntraced(function* (counter) {
        const { files, sourceId } = counter.source
        yield* report({ name: "content:source:start", payload: { timestamp: yield* timestamp, sourceId } })
        const [path] = Object.keys(files)
        yield* path === undefined ? reportDone(counter) : reportProgress(path, counter)
      }),
      { discard: true }
    ),

    /** Counts new bytes of a file. A negative number takes bytes back. */
    onBytes: (file: CopiedFile) => (bytes: number) => addProgress({ ...file, bytes }),

    downloaded: (file: CopiedFile) => addProgress({ ...file, downloaded: 1 }),

    reused: (files: ReadonlyArray<CopiedFile>) =>
      Effect.forEach(
        Object.values(Array.groupBy(files, ({ sourceId }) => sourceId)),
        (ofSource) =>
          addProgress({ ...Array.lastNonEmpty(ofSource), bytes: bytesOf(ofSource), reused: ofSource.length }),
        { discard: true }
      ),

    failed: ({ sourceId }: CopiedFile, error: unknown) =>
      Effect.flatMap(timestamp, (timestamp) =>
        report({
          name: "content:source:error",
          payload: { timestamp, sourceId, error: serializeError(error) }
        })
      )
  }
})
