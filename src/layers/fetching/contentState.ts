/**
 * The content plugin's slice of the state: what its status says, as data.
 */
import * as Option from "effect/Option"
import type { ContentEvent, ContentState } from "../../services/ContentEvents.ts"
import type { ContentOverview } from "./ContentOverview.ts"
import type { NextFetch } from "./contentStatus.ts"

/** What never rests: read with every state. */
export interface Momentary {
  readonly overview: ContentOverview
  readonly nextFetch: Option.Option<NextFetch>
  /** By the ids of the sources. */
  readonly dataOfSources: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

export const momentary = ({ dataOfSources, nextFetch, overview }: Momentary) => ({
  ...withNextFetch({ sources: {} }, nextFetch),
  sources: Object.fromEntries(
    Object.entries(overview.sources).map(([id, { activity, ...source }]) => [
      id,
      {
        ...source,
        ...(activity._tag === "Fetching" ? { progress: activity.progress } : {}),
        ...(dataOfSources[id] === undefined ? {} : { data: dataOfSources[id] })
      }
    ])
  )
})

/** After an event that is shown. */
export const advance = (
  { fetchingSince, rejection: _, ...before }: ContentState,
  { name, payload }: ContentEvent,
  { rejection, sources }: ContentOverview
): ContentState => {
  const after = {
    ...before,
    ...Option.match(rejection, { onNone: () => ({}), onSome: (rejection) => ({ rejection }) }),
    sources: withoutActivity(sources)
  }
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
