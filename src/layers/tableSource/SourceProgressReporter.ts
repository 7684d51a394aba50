/**
 * Tells how far the fetch of a source has come: what a part of it reports, with what the part does not know.
 */
import * as Effect from "effect/Effect"
import type { FetchTarget, SourceProgress } from "../../services/ContentSource.ts"
import type { Wait } from "../../services/WaitObserver.ts"

export interface SourceProgressReporter {
  readonly report: (step: Step) => Effect.Effect<void>
  /** The document that was told of last is read to its end. */
  readonly documentDone: () => void
  /** The work that was told of last rests. */
  readonly waiting: (wait: Wait) => Effect.Effect<void>
}

/** What a part of a fetch knows. */
export type Step = Pick<SourceProgress, "document" | "records" | "attachments">

export const makeSourceProgressReporter = (
  documents: number,
  progress: FetchTarget["progress"]
): SourceProgressReporter => {
  let done = 0
  let latest: Step | undefined

  const complete = ({ document, ...step }: Step): SourceProgress => ({
    document,
    documents: { done, total: documents },
    ...step
  })

  return {
    report: (step) =>
      Effect.suspend(() => {
        latest = step
        return progress(complete(step))
      }),
    documentDone: () => {
      done++
    },
    waiting: ({ reason, until }) =>
      Effect.suspend(() =>
        latest === undefined
          ? Effect.void
          : progress({ ...complete(latest), waiting: { reason, until: new Date(until).toISOString() } })
      )
  }
}
