/**
 * Reports how far a copy has come, source by source, as sources that are fetched report it.
 */
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import { serializeError } from "../../internal/SerializedError.ts"
import type { FileList, ListedSource } from "../../services/FileList.ts"
import type { CopiedFile } from "../../services/VersionStore.ts"
import { setRecords } from "../fetching/metrics.ts"
import { type Report, timestamp } from "../fetching/report.ts"

/** Milliseconds from one report of a source to the next while none of its files is downloaded to the end. */
const reportEvery = 1000

interface Counter {
  readonly source: ListedSource
  readonly total: number
  readonly totalBytes: number
  done: number
  reused: number
  bytes: number
  startedAt: number
  reportedAt: number
}

/** A file that is worked on: whose it is, and what it is called. */
interface Step {
  readonly sourceId: string
  readonly path: string
}

export const makeCopyProgress = Effect.fnUntraced(function* ({ sources }: FileList, report: Report) {
  const clock = yield* Effect.clock
  const counters = new Map(
    sources.map((source): [string, Counter] => [
      source.sourceId,
      {
        source,
        total: Object.keys(source.files).length,
        totalBytes: Object.values(source.files).reduce((sum, { size }) => sum + size, 0),
        done: 0,
        reused: 0,
        bytes: 0,
        startedAt: clock.unsafeCurrentTimeMillis(),
        reportedAt: 0
      }
    ])
  )

  const withCounter = ({ sourceId }: Step, use: (counter: Counter) => Effect.Effect<void>) =>
    Effect.suspend(() => {
      const counter = counters.get(sourceId)
      return counter === undefined ? Effect.void : use(counter)
    })

  const reportProgress = ({ path, sourceId }: Step, counter: Counter) => {
    counter.reportedAt = clock.unsafeCurrentTimeMillis()
    const { bytes, done, source, total, totalBytes } = counter
    return report({
      name: "content:source:progress",
      payload: {
        sourceId,
        document: path,
        documents: { done, total },
        records: source.records ?? 0,
        attachments: { done, total, bytes, totalBytes }
      }
    })
  }

  const reportNowAndThen = (step: Step, counter: Counter) =>
    clock.unsafeCurrentTimeMillis() - counter.reportedAt < reportEvery
      ? Effect.void
      : reportProgress(step, counter)

  const reportDone = ({ bytes, reused, source, startedAt, total }: Counter) =>
    Effect.gen(function* () {
      const { records = 0, sourceId } = source
      yield* report({
        name: "content:source:done",
        payload: {
          timestamp: yield* timestamp,
          sourceId,
          records,
          bytes,
          attachments: { total, bytes, reused },
          durationMs: Math.round(clock.unsafeCurrentTimeMillis() - startedAt)
        }
      })
      yield* setRecords(sourceId, records)
    })

  const done = (counter: Counter, files = 1) => {
    counter.done += files
    return counter.done === counter.total ? reportDone(counter) : Effect.void
  }

  const reused = (files: ReadonlyArray<CopiedFile>) =>
    Effect.forEach(
      Object.values(Array.groupBy(files, ({ sourceId }) => sourceId)),
      (ofSource) => {
        const step = Array.lastNonEmpty(ofSource)
        return withCounter(step, (counter) => {
          counter.reused += ofSource.length
          counter.bytes += ofSource.reduce((sum, { size }) => sum + size, 0)
          return Effect.zipRight(reportNowAndThen(step, counter), done(counter, ofSource.length))
        })
      },
      { discard: true }
    )

  return {
    /** How many records the version has. */
    records: sources.reduce((sum, { records = 0 }) => sum + records, 0),

    start: Effect.forEach(
      counters,
      ([sourceId, counter]) =>
        Effect.gen(function* () {
          yield* report({ name: "content:source:start", payload: { timestamp: yield* timestamp, sourceId } })
          const [path] = Object.keys(counter.source.files)
          yield* path === undefined ? reportDone(counter) : reportProgress({ sourceId, path }, counter)
        }),
      { discard: true }
    ),

    /** More bytes of a file have come, or fewer are left of it. */
    onBytes: (step: Step) => (bytes: number) =>
      withCounter(step, (counter) => {
        counter.bytes += bytes
        return reportNowAndThen(step, counter)
      }),

    reused,

    downloaded: (step: Step) =>
      withCounter(step, (counter) => Effect.zipRight(reportProgress(step, counter), done(counter))),

    failed: (step: Step, error: unknown) =>
      Effect.flatMap(timestamp, (timestamp) =>
        report({
          name: "content:source:error",
          payload: { timestamp, sourceId: step.sourceId, error: serializeError(error) }
        })
      )
  }
})
