/**
 * The content plugin's part of the status.
 */
import type { ContentSource } from "../../services/ContentSource.ts"
import type { Row } from "../../services/ControllerState.ts"
import type { VersionOverview } from "../../services/VersionStore.ts"

/** What a fetch came to; the payload of `content:fetch:done` and the result of `content.fetch`. */
export interface FetchOutcome {
  /** ISO 8601, UTC. */
  readonly timestamp: string
  /** Whether a new version was promoted. */
  readonly changed: boolean
  /** The active version. */
  readonly versionId: string
  readonly records: number
  readonly durationMs: number
}

export type LastFetch =
  | { readonly _tag: "None" }
  | { readonly _tag: "Done"; readonly outcome: FetchOutcome }
  | { readonly _tag: "Failed"; readonly timestamp: string; readonly message: string }

export const statusRows = (
  sources: ReadonlyArray<ContentSource>,
  versions: ReadonlyArray<VersionOverview>,
  last: LastFetch
): ReadonlyArray<Row> => [
  {
    type: "kv",
    label: "Active version",
    value: versions.find(({ active }) => active)?.versionId ?? "none"
  },
  { type: "kv", label: "Sources", value: sources.map(({ id }) => id).join(", ") },
  lastFetchRow(last),
  {
    type: "list",
    label: "Versions on disk",
    items: versions.map(({ consumers, versionId }) => ({
      type: "kv",
      label: versionId,
      value: consumers.length === 0 ? "not acknowledged" : `shown by ${consumers.join(", ")}`
    }))
  }
]

const lastFetchRow = (last: LastFetch): Row => {
  switch (last._tag) {
    case "None":
      return { type: "kv", label: "Last fetch", value: "none yet", tone: "neutral" }
    case "Done": {
      const { changed, records, timestamp } = last.outcome
      const value = `${timestamp}, ${records} records, ${changed ? "promoted" : "nothing changed"}`
      return { type: "kv", label: "Last fetch", value, tone: "ok" }
    }
    case "Failed":
      return {
        type: "kv",
        label: "Last fetch",
        value: `${last.timestamp}, failed: ${last.message}`,
        tone: "error"
      }
  }
}
