/**
 * The content plugin's slice of the state: what its status says, as data.
 */
import * as Option from "effect/Option"
import type { ContentEvent, ContentState } from "../../services/ContentEvents.ts"
import type { ContentOverview } from "./ContentOverview.ts"
import type { NextFetch } from "./contentStatus.ts"

/** After an event that is shown. */
export const advance = (
  { fetchingSince, ...before }: ContentState,
  { name, payload }: ContentEvent,
  { sources }: ContentOverview
): ContentState => {
  const after = { ...before, sources: withoutActivity(sources) }
  switch (name) {
    case "content:fetch:start":
      return { ...after, fetchingSince: payload.timestamp }
    case "content:fetch:done": {
      const { failingSince, ...succeeded } = after
      return { ...succeeded, lastFetch: payload, lastSuccess: payload.timestamp }
    }
    case "content:fetch:error":
      return { ...after, lastFetch: payload, failingSince: before.failingSince ?? payload.timestamp }
    default:
      return { ...after, ...(fetchingSince === undefined ? {} : { fetchingSince }) }
  }
}

/** Whether an event changes the slice: progress does not, which comes with every page of a table. */
export const isShown = ({ name }: ContentEvent): boolean =>
  name.startsWith("content:fetch:") || name === "content:source:done" || name === "content:source:error"

export const withNextFetch = (
  { nextFetch, ...before }: ContentState,
  next: Option.Option<NextFetch>
): ContentState => ({
  ...before,
  ...Option.match(next, {
    onNone: () => ({}),
    onSome: ({ at, isRetry }) => ({ nextFetch: { at: new Date(at).toISOString(), isRetry } })
  })
})

const withoutActivity = (sources: ContentOverview["sources"]): ContentState["sources"] =>
  Object.fromEntries(Object.entries(sources).map(([id, { activity, ...source }]) => [id, source]))
