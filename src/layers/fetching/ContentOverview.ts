/**
 * Where the fetching of the content stands, as its events tell it.
 */
import * as Option from "effect/Option"
import type { ContentEvent, FetchOutcome, SourceOutcome } from "../../services/ContentEvents.ts"
import type { SourceProgress } from "../../services/ContentSource.ts"
import type { Violation } from "../../services/Violation.ts"

export interface ContentOverview {
  readonly isFetching: boolean
  readonly lastFetch: LastFetch
  /** Since the first fetch of which a version was rejected, until one succeeds. */
  readonly rejection: Option.Option<Rejection>
  /** By their ids. */
  readonly sources: Readonly<Record<string, SourceOverview>>
}

export type LastFetch =
  | { readonly _tag: "None" }
  | { readonly _tag: "Done"; readonly outcome: FetchOutcome }
  | ({ readonly _tag: "Failed" } & Failure)

export interface Failure {
  /** ISO 8601, UTC. */
  readonly timestamp: string
  readonly message: string
}

export interface Rejection {
  /** ISO 8601, UTC. */
  readonly since: string
  /** Of the last fetch that was rejected, and of which source. */
  readonly sourceId: string
  readonly violations: ReadonlyArray<Violation>
}

export interface SourceOverview {
  readonly activity: Activity
  readonly lastSuccess?: SourceOutcome
  /** Of the last time that it failed, even if it has succeeded since. */
  readonly lastError?: Failure
}

/** What a source does now. */
export type Activity =
  | { readonly _tag: "Idle" }
  | { readonly _tag: "Starting" }
  | { readonly _tag: "Fetching"; readonly progress: SourceProgress }

const idle: Activity = { _tag: "Idle" }
const untouched: SourceOverview = { activity: idle }

export const empty: ContentOverview = {
  isFetching: false,
  lastFetch: { _tag: "None" },
  rejection: Option.none(),
  sources: {}
}

/** With these sources and no others. */
export const withSources =
  (ids: ReadonlyArray<string>) =>
  (overview: ContentOverview): ContentOverview => ({
    ...overview,
    sources: Object.fromEntries(ids.map((id) => [id, overview.sources[id] ?? untouched]))
  })

export const advance = (overview: ContentOverview, { name, payload }: ContentEvent): ContentOverview => {
  switch (name) {
    case "content:version:promoted":
      return overview
    case "content:version:rejected": {
      const { sourceId, timestamp, violations } = payload
      const since = Option.match(overview.rejection, {
        onNone: () => timestamp,
        onSome: ({ since }) => since
      })
      return { ...overview, rejection: Option.some({ since, sourceId, violations }) }
    }
    case "content:fetch:start":
      return { ...overview, isFetching: true }
    case "content:fetch:done":
      return {
        ...ended(overview, { _tag: "Done", outcome: payload }),
        rejection: Option.none()
      }
    case "content:fetch:error":
      return ended(overview, { _tag: "Failed", ...failure(payload) })
    case "content:source:start":
      return withSource(overview, payload.sourceId, { activity: { _tag: "Starting" } })
    case "content:source:progress": {
      const { sourceId, ...progress } = payload
      return withSource(overview, sourceId, { activity: { _tag: "Fetching", progress } })
    }
    case "content:source:done":
      return withSource(overview, payload.sourceId, { activity: idle, lastSuccess: payload })
    case "content:source:error":
      return withSource(overview, payload.sourceId, { activity: idle, lastError: failure(payload) })
  }
}

const withSource = (
  overview: ContentOverview,
  id: string,
  change: Partial<SourceOverview>
): ContentOverview => ({
  ...overview,
  sources: { ...overview.sources, [id]: { ...(overview.sources[id] ?? untouched), ...change } }
})

/** Nobody is busy any more: a source that was interrupted because another one failed tells nothing itself. */
const ended = ({ sources, ...overview }: ContentOverview, lastFetch: LastFetch): ContentOverview => ({
  ...overview,
  isFetching: false,
  lastFetch,
  sources: Object.fromEntries(
    Object.entries(sources).map(([id, source]) => [id, { ...source, activity: idle }])
  )
})

const failure = ({ error, timestamp }: { error: { message: string }; timestamp: string }): Failure => ({
  timestamp,
  message: error.message
})
