/**
 * Accepts warnings of the last fetches.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import { printableLine } from "../../internal/printable.ts"
import type { ContentState } from "../../services/Slices.ts"
import { NoSuchWarning, type Warning } from "../../services/Warning.ts"
import type { ContentSlice } from "./contentState.ts"
import type { Provider } from "./Provider.ts"

export interface Asked extends Pick<Warning, "code" | "subject"> {
  readonly by?: string | undefined
}

/** In characters. */
const maxBy = 64

/** Whether the warning, if its source can accept warnings, is about something that can be accepted. */
export const isAcceptable = ({ code }: Pick<Warning, "code">): boolean => code !== "content:more"

/** Accepts the warnings with a code and a subject: they leave the state, and the next fetches do not give them again. */
export const acceptWarning =
  (slice: ContentSlice, accept: Provider["accept"] = {}) =>
  ({ by = "", code, subject }: Asked) =>
    Effect.gen(function* () {
      const all = Object.entries((yield* slice.get).sources).flatMap(([sourceId, { lastSuccess }]) =>
        Option.match(Record.get(accept, sourceId), {
          onNone: () => [],
          onSome: (accept) =>
            (lastSuccess?.warnings ?? [])
              .filter(isAcceptable)
              .map((warning) => ({ warning, accept: accept(inSource(sourceId, warning)) }))
        })
      )
      const found = all.filter(({ warning }) => warning.code === code && warning.subject === subject)
      const accepted = found.map(({ warning }) => warning)
      if (found.length === 0) {
        return yield* new NoSuchWarning({ code, subject, warnings: all.map(({ warning }) => warning) })
      }
      yield* Effect.forEach(found, ({ accept }) => accept)
      yield* slice.update(without(accepted))
      const person = printableLine(by, maxBy) || "somebody"
      yield* Effect.forEach(accepted, ({ text }) => Effect.logInfo(`Accepted by ${person}: ${text}`))
      return { accepted }
    }).pipe(Effect.uninterruptible)

/** The warning as its source knows it: without the id of the source in the subject. */
const inSource = (sourceId: string, warning: Warning): Warning => ({
  ...warning,
  subject: warning.subject === sourceId ? "" : warning.subject.slice(sourceId.length + 1)
})

const without =
  (accepted: ReadonlyArray<Warning>) =>
  ({ sources, ...state }: ContentState): ContentState => ({
    ...state,
    sources: Record.map(sources, ({ lastSuccess, ...source }) => ({
      ...source,
      lastSuccess: lastSuccess && {
        ...lastSuccess,
        warnings: (lastSuccess.warnings ?? []).filter((warning) => !accepted.includes(warning))
      }
    }))
  })
