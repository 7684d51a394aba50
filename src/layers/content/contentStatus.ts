/**
 * The content plugin's part of the status.
 */
import * as Option from "effect/Option"
import { outcomeText, progressText } from "../../internal/progressText.ts"
import { countText } from "../../internal/readable.ts"
import type { Row } from "../../services/ControllerState.ts"
import { contentLabels } from "../../services/Health.ts"
import type { Hold, Lease, VersionOverview } from "../../services/VersionStore.ts"
import { violationText } from "../../services/Violation.ts"
import type { Activity, ContentOverview, LastFetch, Rejection, SourceOverview } from "./ContentOverview.ts"
import { holdText } from "./holdText.ts"

/** A fetch that is planned. */
export interface NextFetch {
  /** In milliseconds since 1970. */
  readonly at: number
  /** Whether it is because the last one failed. */
  readonly isRetry: boolean
}

/** What the status is made of. */
export interface StatusParts {
  readonly overview: ContentOverview
  /** Whether it finds out just now if there is something to fetch. */
  readonly isLooking: boolean
  readonly held: Hold | undefined
  readonly versions: ReadonlyArray<VersionOverview>
  readonly nextFetch: Option.Option<NextFetch>
  readonly originRows: ReadonlyArray<Row>
  /** By the ids of the sources. */
  readonly rowsOfSources: Readonly<Record<string, ReadonlyArray<Row>>>
}

export const statusRows = ({
  held,
  isLooking,
  nextFetch,
  originRows,
  overview: { isFetching, lastFetch, rejection, sources },
  rowsOfSources,
  versions
}: StatusParts): ReadonlyArray<Row> => [
  {
    type: "kv",
    label: "Active version",
    value: activeOf(versions)
  },
  ...unshownRows(versions),
  ...(held === undefined
    ? []
    : [
        {
          type: "kv",
          label: contentLabels.held,
          value: holdText(activeOf(versions), held),
          tone: "warn"
        } as const
      ]),
  ...Option.match(rejection, { onNone: () => [], onSome: (rejection) => [rejectionRow(rejection)] }),
  lastFetchRow(lastFetch, rejection),
  {
    type: "kv",
    label: "Next fetch",
    value: isFetching
      ? "running now"
      : isLooking
        ? "looking for changes now"
        : Option.match(nextFetch, { onNone: () => "none planned", onSome: nextFetchText })
  },
  ...originRows,
  {
    type: "list",
    label: "Sources",
    items: Object.entries(sources).map(([label, source]) => ({
      type: "list",
      label,
      items: [...sourceRows(source, rejection), ...(rowsOfSources[label] ?? [])]
    }))
  },
  {
    type: "list",
    label: "Versions on disk",
    items: versions.map(({ active, isRead, isWaiting, leases, versionId }) => ({
      type: "kv",
      label: versionId,
      value: [
        ...(active ? ["active"] : []),
        ...(isWaiting ? ["waiting"] : []),
        leasesText(leases),
        ...(isRead ? ["being read"] : [])
      ].join(", "),
      ...(leases.some(hasProblem) ? { tone: "warn" } : {})
    }))
  }
]

/** Where the active version is on no screen without a problem, and some screen has one: what it says. */
const unshownRows = (versions: ReadonlyArray<VersionOverview>): ReadonlyArray<Row> => {
  const active = versions.find(({ active }) => active)
  const [first] = versions.flatMap(({ leases }) => leases.filter(hasProblem))
  return active === undefined || first === undefined || !active.leases.every(hasProblem)
    ? []
    : [
        {
          type: "kv",
          label: "Screens",
          value: `none shows it without a problem; ${first.consumerId}: ${first.problem}`,
          tone: "error"
        }
      ]
}

const activeOf = (versions: ReadonlyArray<VersionOverview>): string =>
  versions.find(({ active }) => active)?.versionId ?? "none"

const nextFetchText = ({ at, isRetry }: NextFetch): string =>
  `${isoTime(at)}${isRetry ? ", a retry: what failed may pass by itself" : ""}`

/** What was rejected stands in a row of its own. */
const failureText = (message: string, rejection: Option.Option<Rejection>): string =>
  Option.exists(rejection, ({ violations }) =>
    violations.every((violation) => message.includes(violationText(violation)))
  )
    ? "rejected, see above"
    : message

const lastFetchRow = (last: LastFetch, rejection: Option.Option<Rejection>): Row => {
  switch (last._tag) {
    case "None":
      return { type: "kv", label: contentLabels.lastFetch, value: "none yet", tone: "neutral" }
    case "Done": {
      const { changed, held, records, timestamp } = last.outcome
      const result = changed
        ? "promoted"
        : held?.waiting === undefined
          ? "nothing changed"
          : `version ${held.waiting} waits`
      const value = `${timestamp}, ${countText(records, "record")}, ${result}`
      return { type: "kv", label: contentLabels.lastFetch, value, tone: "ok" }
    }
    case "Failed":
      return {
        type: "kv",
        label: contentLabels.lastFetch,
        value: `${last.timestamp}, failed: ${failureText(last.message, rejection)}`,
        tone: "error"
      }
  }
}

const rejectionRow = ({ since, sourceId, violations }: Rejection): Row => ({
  type: "list",
  label: contentLabels.rejected,
  items: [
    {
      type: "text",
      text: `since ${since}: what the source "${sourceId}" gives is not as expected; the active version stays`,
      tone: "error"
    },
    ...violations.map(
      (violation) => ({ type: "text", text: violationText(violation), tone: "error" }) as const
    )
  ]
})

const sourceRows = (
  { activity, lastError, lastSuccess }: SourceOverview,
  rejection: Option.Option<Rejection>
): ReadonlyArray<Row> => [
  activityRow(activity),
  {
    type: "kv",
    label: "Last success",
    value: lastSuccess === undefined ? "none yet" : `${lastSuccess.timestamp}, ${outcomeText(lastSuccess)}`,
    tone: lastSuccess === undefined ? "neutral" : "ok"
  },
  ...(lastSuccess?.warnings ?? []).map(
    (value) => ({ type: "kv", label: "Warning", value, tone: "warn" }) as const
  ),
  lastError === undefined
    ? { type: "kv", label: contentLabels.lastError, value: "none", tone: "neutral" }
    : {
        type: "kv",
        label: contentLabels.lastError,
        value: `${lastError.timestamp}, ${failureText(lastError.message, rejection)}`,
        tone: lastError.timestamp > (lastSuccess?.timestamp ?? "") ? "error" : "neutral"
      }
]

const activityRow = (activity: Activity): Row => {
  switch (activity._tag) {
    case "Idle":
      return { type: "kv", label: "Now", value: "idle", tone: "neutral" }
    case "Starting":
      return { type: "kv", label: "Now", value: "starting to fetch", tone: "ok" }
    case "Fetching":
      return {
        type: "kv",
        label: "Now",
        value: progressText(activity.progress),
        tone: (activity.progress.waiting?.reason ?? "pacing") === "pacing" ? "ok" : "warn"
      }
  }
}

/** How many consumers of a version are listed. */
const maxListed = 20

const hasProblem = ({ problem }: Lease): boolean => problem !== undefined

/** Those who have a problem come first. */
const leasesText = (leases: ReadonlyArray<Lease>): string => {
  const listed = [...leases.filter(hasProblem), ...leases.filter((lease) => !hasProblem(lease))]
    .slice(0, maxListed)
    .map(leaseText)
    .join(", ")
  const unlisted = leases.length - maxListed
  return leases.length === 0
    ? "not acknowledged"
    : `shown by ${listed}${unlisted > 0 ? ` and ${unlisted} more` : ""}`
}

const leaseText = ({ consumerId, problem, until }: Lease): string =>
  `${consumerId} (kept until ${isoTime(until)}${problem === undefined ? "" : `; problem: ${problem}`})`

const isoTime = (millis: number): string => new Date(millis).toISOString()
