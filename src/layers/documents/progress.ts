/**
 * Reports the progress of a fetch.
 */

import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type { SourceProgress } from "../../services/ContentSource.ts"
import type { Wait } from "../../services/WaitObserver.ts"

/** The progress that a part of a fetch knows. */
export type Step = Pick<SourceProgress, "attachments" | "document" | "records">

export interface ProgressReporter {
  readonly report: (step: Step) => Effect.Effect<void>
  /** Reports the last step once more, because the work goes on. */
  readonly again: Effect.Effect<void>
  /** The document of the last report is read to its end. */
  readonly documentDone: Effect.Effect<void>
  /** The work of the last report waits. */
  readonly waiting: (wait: Wait) => Effect.Effect<void>
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
    again: Effect.flatMap(Ref.get(state), ({ done, latest }) =>
      Option.match(latest, {
        onNone: () => Effect.void,
        onSome: (step) => progress({ ...step, documents: { done, total } })
      })
    ),
    documentDone: Ref.update(state, ({ done, latest }) => ({ done: done + 1, latest })),
    waiting: ({ millis, reason }) =>
      Effect.gen(function* () {
        const { done, latest } = yield* Ref.get(state)
        if (Option.isNone(latest)) return
        const until = new Date(Math.ceil((yield* Clock.currentTimeMillis) + millis)).toISOString()
        yield* progress({ ...latest.value, documents: { done, total }, waiting: { reason, until } })
      })
  }))

/** How many files of a source are processed at the same time. */
export const filesAtOnce = 6

/** The most bytes of a file without an option: 8 GiB. */
export const defaultMaxBytes = 8 * 1024 ** 3
