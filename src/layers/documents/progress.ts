/**
 * Reports the progress of a fetch, and counts its files and their bytes.
 */

import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { unsafeMonotonicMillis } from "../../internal/monotonicMillis.ts"
import type { AttachmentProgress, SourceProgress } from "../../services/ContentSource.ts"
import type { WaitReason } from "../../services/WaitObserver.ts"
import type { OnBytes } from "../httpClient/Download.ts"

/** The progress that a part of a fetch knows. */
export type Step = Pick<SourceProgress, "attachments" | "document" | "records">

export interface ProgressReporter {
  readonly report: (step: Step) => Effect.Effect<void>
  /** The document of the last report is read to its end. */
  readonly documentDone: Effect.Effect<void>
  /** The work of the last report waits; `until` is in milliseconds since 1970. */
  readonly waiting: (wait: { readonly reason: WaitReason; readonly until: number }) => Effect.Effect<void>
}

export const makeProgressReporter = (
  total: number,
  progress: (progress: SourceProgress) => Effect.Effect<void>
): Effect.Effect<ProgressReporter> =>
  Effect.map(Ref.make({ done: 0, latest: Option.none<Step>() }), (state) => ({
    report: (step) =>
      Effect.flatMap(
        Ref.updateAndGet(state, (before) => ({ ...before, latest: Option.some(step) })),
        ({ done }) => progress({ ...step, documents: { done, total } })
      ),
    documentDone: Ref.update(state, ({ done, latest }) => ({ done: done + 1, latest })),
    waiting: ({ reason, until }) =>
      Effect.flatMap(Ref.get(state), ({ done, latest }) =>
        Option.match(latest, {
          onNone: () => Effect.void,
          onSome: (step) =>
            progress({
              ...step,
              documents: { done, total },
              waiting: { reason, until: new Date(until).toISOString() }
            })
        })
      )
  }))

/** How many files of a source are processed at the same time. */
export const filesAtOnce = 6

/** The most bytes of a file without an option: 8 GiB. */
export const defaultMaxBytes = 8 * 1024 ** 3

/** Milliseconds between two reports of progress, except the last. */
const reportEvery = 250

/**
 * `before` are files that exist before the first download; `progress` gets the latest file, at most four times a second,
 * and once when all are complete.
 */
export const makeDownloadCounter = <File>(
  total: number,
  before: { readonly done: number; readonly bytes: number },
  progress: (latest: File, progress: AttachmentProgress) => Effect.Effect<void>
) =>
  Effect.map(Effect.clock, (clock) => {
    let { bytes, done } = before
    let reportedAt = Number.NEGATIVE_INFINITY

    const report = (latest: File) =>
      Effect.suspend(() => {
        reportedAt = unsafeMonotonicMillis(clock)
        return progress(latest, { done, total, bytes })
      })

    const reportIfDue = (latest: File) =>
      done < total && unsafeMonotonicMillis(clock) - reportedAt < reportEvery ? Effect.void : report(latest)

    const onBytes =
      (file: File): OnBytes =>
      (more) => {
        bytes += more
        return reportIfDue(file)
      }

    return {
      report,
      onBytes,
      /** Call it after each download. */
      fileDone: (file: File) =>
        Effect.suspend(() => {
          done++
          return reportIfDue(file)
        }),
      /** A file that is reused. */
      fileKept: (file: File, size: number) =>
        Effect.suspend(() => {
          done++
          return onBytes(file)(size)
        })
    }
  })
