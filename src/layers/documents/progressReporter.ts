/**
 * Reports how far a fetch has come: what a part of it reports, with what the part does not know.
 */
import * as Effect from "effect/Effect"

export interface ProgressReporter<Step> {
  readonly report: (step: Step) => Effect.Effect<void>
  /** The document that was reported last is read to its end. */
  readonly documentDone: () => void
  /** The work that was reported last rests; `until` is in milliseconds since 1970. */
  readonly waiting: (wait: { readonly reason: Reason; readonly until: number }) => Effect.Effect<void>
}

type Reason = "pacing" | "penalty" | "retry"

/** A step, with what the whole knows of it. */
type Progress<Step> = Step & {
  readonly documents: { readonly done: number; readonly total: number }
  readonly waiting?: { readonly reason: Reason; readonly until: string }
}

export const makeProgressReporter = <Step extends object>(
  documents: number,
  progress: (progress: Progress<Step>) => Effect.Effect<void>
): ProgressReporter<Step> => {
  let done = 0
  let latest: Step | undefined

  const complete = (step: Step) => ({ ...step, documents: { done, total: documents } })

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
