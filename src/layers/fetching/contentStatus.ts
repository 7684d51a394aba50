/**
 * The content plugin's part of the status.
 */
import * as Array from "effect/Array"
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
  ...problemRows(versions),
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
  { type: "list", label: "Screens", items: screenRows(versions) },
  {
    type: "list",
    label: "Versions on disk",
    items: versions.map(({ active, isRead, isWaiting, leases, versionId }) => ({
      type: "kv",
      label: versionId,
      value: [
        ...(active ? ["active"] : []),
        ...(isWaiting ? ["waiting"] : []),
        shownText(leases.filter(({ isSilent }) => !isSilent).length),
        ...(active || leases.length === 0
          ? []
          : [`kept until ${isoTime(Math.max(...leases.map(({ until }) => until)))}`]),
        ...(isRead ? ["being read"] : [])
      ].join(", ")
    }))
  }
]

/** A screen as its lease says, and whether it shows the active version. */
interface Screen extends Lease {
  readonly active: boolean
}

const screensOf = (versions: ReadonlyArray<VersionOverview>): ReadonlyArray<Screen> =>
  versions.flatMap(({ active, leases }) => leases.map((lease) => ({ ...lease, active })))

/** How many screens are listed. */
const maxListed = 20

/** A sentence for each screen that has a problem; in red where none shows the active version without one. */
const problemRows = (versions: ReadonlyArray<VersionOverview>): ReadonlyArray<Row> => {
  const screens = screensOf(versions)
  const isShown = screens.some(
    ({ active, isSilent, problem }) => active && !isSilent && problem === undefined
  )
  const tone = isShown || !versions.some(({ active }) => active) ? "warn" : "error"
  const texts = screens.flatMap(({ consumerId, problem, problemSince }) =>
    problem === undefined || problemSince === undefined
      ? []
      : [`Screen ${consumerId} has a problem since ${isoTime(problemSince)}: ${problem}`]
  )
  const unlisted = texts.length - maxListed
  return [
    ...texts.slice(0, maxListed),
    ...(unlisted > 0 ? [`${countText(unlisted, "more screen")} with a problem`] : [])
  ].map((text) => ({ type: "text", text, tone }))
}

/** Those that are silent come last. */
const screenRows = (versions: ReadonlyArray<VersionOverview>): ReadonlyArray<Row> => {
  const [heard, silent] = Array.partition(screensOf(versions), ({ isSilent }) => isSilent)
  const screens = [...heard, ...silent]
  const unlisted = screens.length - maxListed
  return [
    ...screens.slice(0, maxListed).map(screenRow),
    ...(unlisted > 0 ? [{ type: "text", text: `and ${unlisted} more`, tone: "neutral" } as const] : [])
  ]
}

const screenRow = ({ active, consumerId, heardAt, isSilent, problem, versionId }: Screen): Row => {
  const what =
    problem !== undefined
      ? "has a problem"
      : active
        ? "shows the active version"
        : `shows version ${versionId}`
  return {
    type: "kv",
    label: consumerId,
    value: isSilent
      ? `silent, last heard of at ${isoTime(heardAt)}`
      : `${what}, heard of at ${isoTime(heardAt)}`,
    tone: active && !isSilent && problem === undefined ? "ok" : "neutral"
  }
}

const shownText = (screens: number): string =>
  screens === 0 ? "on no screen" : `on ${countText(screens, "screen")}`

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

const isoTime = (millis: number): string => new Date(millis).toISOString()
