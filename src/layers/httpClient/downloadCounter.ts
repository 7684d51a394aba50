/**
 * Counts the files of a source and their bytes while they are downloaded or reused.
 */
import * as Effect from "effect/Effect"
import { unsafeMonotonicMillis } from "../../internal/monotonicMillis.ts"
import type { AttachmentProgress } from "../../services/ContentSource.ts"
import type { OnBytes } from "./Download.ts"

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
