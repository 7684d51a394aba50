/**
 * Counts what there is of many files, and reports it.
 */
import * as Effect from "effect/Effect"
import type { AttachmentProgress } from "../../services/ContentSource.ts"
import type { OnBytes } from "./Download.ts"

/** How many files of a source are worked on at the same time. */
export const filesAtOnce = 6

/** The most bytes of a file, where no option says otherwise: 8 GiB. */
export const defaultMaxBytes = 8 * 1024 ** 3

/** Milliseconds from one report of progress to the next, but for the last. */
const reportEvery = 250

/** Files that are there before the first download. */
export interface Before {
  readonly done: number
  readonly bytes: number
}

/** `progress` gets the latest file, at most four times a second, and once when all are complete. */
export const makeDownloadCounter = <File>(
  total: number,
  before: Before,
  progress: (latest: File, progress: AttachmentProgress) => Effect.Effect<void>
) =>
  Effect.map(Effect.clock, (clock) => {
    let { bytes, done } = before
    let reportedAt = 0

    const report = (latest: File) =>
      Effect.suspend(() => {
        reportedAt = clock.unsafeCurrentTimeMillis()
        return progress(latest, { done, total, bytes })
      })

    const reportIfDue = (latest: File) =>
      done < total && clock.unsafeCurrentTimeMillis() - reportedAt < reportEvery
        ? Effect.void
        : report(latest)

    const onBytes =
      (file: File): OnBytes =>
      (more) => {
        bytes += more
        return reportIfDue(file)
      }

    return {
      bytes: () => bytes,
      report,
      onBytes,
      /** Told after each download. */
      fileDone: (file: File) =>
        Effect.suspend(() => {
          done++
          return reportIfDue(file)
        }),
      /** A file that is taken over from elsewhere. */
      fileKept: (file: File, size: number) =>
        Effect.suspend(() => {
          done++
          return onBytes(file)(size)
        })
    }
  })
