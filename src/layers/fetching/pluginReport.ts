/**
 * Turns the slice of a content into rows, problems and a summary.
 */
import * as Duration from "effect/Duration"
import * as Struct from "effect/Struct"
import { countsText } from "../../internal/contentCounts.ts"
import { hasPassed } from "../../internal/monotonicMillis.ts"
import { countText, sizeText } from "../../internal/readable.ts"
import type { Problem } from "../../services/Problem.ts"
import type { ContentState, SourceState } from "../../services/Slices.ts"
import type { GlobalState, Row } from "../../services/StatusSnapshot.ts"
import type { Hold, KeptSource, VersionOverview } from "../../services/VersionStore.ts"
import type { ContentStatus, ScreenStatus } from "../../services/View.ts"
import { warningCodes } from "../../services/Warning.ts"
import { countOn, screenRows } from "../screens/screens.ts"
import { oldText, violationText } from "../status/contentText.ts"
import { isOpen } from "../status/openingHours.ts"
import { kv, list, text } from "../status/rows.ts"
import { contentServersOf, contentsOf, reportOf, titleOf } from "../status/slices.ts"
import { codes } from "../status/view.ts"
import type { ContentRules } from "./ContentOptions.ts"
import { errorOf } from "./contentState.ts"
import * as HubReport from "./HubReport.ts"
import type { Provider } from "./Provider.ts"
import { failureText, type Rejection, sourceProblems, sourceRows } from "./sourceReport.ts"

/** Which sources can accept warnings. */
export const pluginReport = (name: string, rules: ContentRules, accept: Provider["accept"] = {}) =>
  reportOf(contentsOf, name, (slice, { now, screens, state }) => {
    const shownBy = screens.filter(({ content }) => content === name)
    const excused = isOpen(state.system.hours, now) ? new Set<string>() : HubReport.awayCodes(slice)
    return {
      sections: [
        { name, order: 10, title: titleOf("Content", name, slice), rows: rows(slice, shownBy, now) }
      ],
      problems: problems(name, slice, rules, now, accept).filter(({ code }) => !excused.has(code)),
      content: statusOf(name, slice, state),
      unwatched: (problem) =>
        excused.has(problem.code)
          ? "closed"
          : (HubReport.unwatched(slice, problem) ?? unfetched(slice, problem)),
      logs: [
        codes.none,
        codes.held,
        codes.hubSilent,
        "content:failing",
        "content:upstream",
        "source:changes",
        "source:waiting",
        ...warningCodes
      ]
    }
  })

/** Codes of problems that are found without a fetch. */
const withoutFetch = /^(content:(none|held|disk|old|upstream)|hub:silent)$/

/** Why the fetches since the start do not say whether a problem continues. */
const unfetched = ({ lastFetch, sources }: ContentState, { code, subject = "" }: Problem) => {
  if (code.startsWith("source:") && !Object.hasOwn(sources, subject)) return "not configured"
  const isFetched =
    /^(content|source):/.test(code) ||
    Object.values(sources).every(({ lastSuccess }) => lastSuccess !== undefined)
  return withoutFetch.test(code) || (lastFetch !== undefined && isFetched) ? undefined : "not fetched yet"
}

/** The status of a content. Its page is the page of its own content server. */
const statusOf = (name: string, slice: ContentState, state: GlobalState): ContentStatus => {
  const { lastFetch } = slice
  const failure = errorOf(slice)?.message ?? failingIn(slice).map(failingText)[0]
  const server = contentServersOf(state).find(([other]) => other === `${name}-server`)?.[1]
  return {
    name,
    ...Struct.pick(
      slice,
      "activeSince",
      "fetchingSince",
      "generatedAt",
      "held",
      "lastSuccess",
      "nextFetch",
      "rejection",
      "reports",
      "versionId"
    ),
    page: server?.page,
    everywhere: server?.page === undefined ? undefined : server.everywhere,
    fetchedPercent: fetchedPercent(slice),
    lastFetch: lastFetch && {
      timestamp: lastFetch.timestamp,
      result: resultOf(lastFetch, slice),
      failure
    }
  }
}

/** How far a fetch has come, in percent of the bytes that are known; missing if no fetch runs. */
export const fetchedPercent = ({ fetchingSince, sources }: ContentState): number | undefined => {
  if (fetchingSince === undefined) return undefined
  const parts = Object.values(sources).flatMap((source) => fetchedPart(source, fetchingSince))
  if (parts.length === 0) return undefined
  const done = parts.reduce((sum, part) => sum + part.done, 0)
  const total = parts.reduce((sum, part) => sum + part.total, 0)
  return total === 0 ? 0 : Math.max(0, Math.min(100, Math.floor((100 * done) / total)))
}

const fetchedPart = ({ fetchingSince, lastSuccess, progress }: SourceState, since: string) => {
  const { bytes: done = 0, totalBytes: total = 0 } = progress?.attachments ?? {}
  return fetchingSince !== undefined
    ? [{ done, total }]
    : lastSuccess !== undefined && lastSuccess.timestamp >= since
      ? [{ done: lastSuccess.bytes, total: lastSuccess.bytes }]
      : []
}

/** How long a fetch may show no progress until that is a problem, and an error, in milliseconds. */
const stalledMs = 15 * 60_000
const lostMs = 60 * 60_000

export const problems = (
  name: string,
  slice: ContentState,
  { failingFor, maxAge }: ContentRules,
  now: number,
  accept: Provider["accept"] = {}
): ReadonlyArray<Problem> => {
  const { failingSince, held, sources, versionId } = slice
  const error = errorOf(slice)?.message
  const found: Array<Problem> = [...diskProblems(name, slice)]
  if (versionId === undefined) {
    const why =
      error ?? (slice.fetchingSince === undefined ? "nothing was fetched yet" : "the first fetch is running")
    const text = `There is no version of "${name}": ${why}`
    found.push({ code: codes.none, severity: "error", subject: name, text })
  } else if (error !== undefined && failingSince !== undefined) {
    const severity = now - Date.parse(failingSince) >= Duration.toMillis(failingFor) ? "error" : "warning"
    const text = `Fetches of "${name}" have failed since ${failingSince}: ${error}`
    found.push({ code: "content:failing", severity, subject: name, text, since: failingSince })
  }
  for (const source of failingIn(slice)) {
    const isLasting = hasPassed(Duration.toMillis(failingFor), Date.parse(source.since), now)
    found.push({
      code: "content:failing",
      severity: isLasting ? "error" : "warning",
      subject: source.sourceId,
      text: failingText(source),
      since: source.since
    })
  }
  if (slice.quietSince !== undefined && hasPassed(stalledMs, Date.parse(slice.quietSince), now)) {
    const { quietSince } = slice
    const running = Object.entries(sources).filter(([, { fetchingSince }]) => fetchingSince !== undefined)
    const of = running.length === 0 ? "" : ` of ${running.map(([id]) => `"${id}"`).join(", ")}`
    found.push({
      code: "content:stalled",
      severity: hasPassed(lostMs, Date.parse(quietSince), now) ? "error" : "warning",
      subject: name,
      text: `The fetch${of} for "${name}" has shown no progress since ${quietSince}: it may hang. If this continues, restart the controller`,
      since: quietSince
    })
  }
  const since = slice.lastSuccess ?? slice.generatedAt
  if (maxAge !== undefined && since !== undefined && now - Date.parse(since) > Duration.toMillis(maxAge)) {
    const text = `"${name}" is too old: it was last up to date at ${since}`
    found.push({ code: "content:old", severity: "error", subject: name, text, since })
  }
  if (held !== undefined && held.byRule === undefined) {
    const { by, since, until, waiting } = held
    const person = by === undefined ? "" : ` by ${by}`
    const waits =
      waiting === undefined ? "" : `; version ${waiting} ${until === undefined ? "waits" : "is shown then"}`
    const end = until === undefined ? "" : ` until ${until}`
    const text = `New versions of "${name}" have been held back since ${since}${person}${end}${waits}. Resume to show them ("vitrine resume")`
    found.push({ code: codes.held, severity: "warning", subject: name, text, since })
  }
  return [
    ...found,
    ...HubReport.problems(slice, error !== undefined, now),
    ...Object.entries(sources).flatMap(([id, source]) =>
      sourceProblems(id, source, Object.hasOwn(accept, id) ? `${name}.accept` : undefined)
    )
  ]
}

const failingIn = ({ sources }: ContentState): ReadonlyArray<KeptSource> =>
  Object.values(sources).flatMap(({ failing }) => failing ?? [])

const failingText = ({ message, since, sourceId }: KeptSource): string =>
  `Source "${sourceId}" has failed since ${since}, so its content is from before: ${message}`

/** The sources of the active version whose content is old, if no problem says so. */
const oldIn = (slice: ContentState): ReadonlyArray<KeptSource> =>
  errorOf(slice) === undefined
    ? (slice.kept ?? []).filter(({ sourceId }) => slice.sources[sourceId]?.failing === undefined)
    : []

/** `shownBy` are the screens of this content, and `now` is the time at which the slice was read. */
export const rows = (
  slice: ContentState,
  shownBy: ReadonlyArray<ScreenStatus>,
  now: number
): ReadonlyArray<Row> => {
  const { held, rejection, sources, versions = [] } = slice
  const active = activeOf(slice, now)
  return [
    kv("Active version", active),
    ...oldIn(slice).map((source) => oldRow(slice, source)),
    ...(held === undefined ? [] : [holdRow(active, held)]),
    ...(rejection === undefined ? [] : [rejectionRow(rejection)]),
    lastFetchRow(slice),
    kv("Next fetch", nextFetchText(slice)),
    ...HubReport.rows(slice),
    list(
      "Sources",
      Object.entries(sources).map(([id, source]) => list(id, sourceRows(source, rejection)))
    ),
    list("Screens", screenRows(shownBy)),
    list("Versions on disk", versions.map(versionRow(shownBy, active)))
  ]
}

const oldRow = ({ copiedFrom }: ContentState, source: KeptSource): Row =>
  copiedFrom === undefined
    ? kv("Old content", oldText(source), "warn")
    : kv("Old content", `${oldText(source)}. Whether they work again is in the status of the hub`, "neutral")

/** The version that was active last, if the versions on disk were not read since it became active. */
const activeOf = ({ activeSince = "", versionId, versions }: ContentState, now: number): string =>
  versions === undefined || now < Date.parse(activeSince)
    ? (versionId ?? "unknown")
    : (versions.find(({ active }) => active)?.versionId ?? "none")

const holdRow = (versionId: string, held: Hold): Row =>
  held.byRule === undefined ? kv("Held", holdText(versionId, held), "warn") : kv("Waits", waitsText(held))

/** The active version, and the version that waits. */
export const activeText = (versionId: string, held: Hold | undefined): string =>
  held === undefined
    ? versionId
    : held.byRule === undefined
      ? `${versionId}, held ${holdText(versionId, held)}`
      : `${versionId}; ${waitsText(held)}`

const waitsText = ({ since, waiting }: Hold): string =>
  `version ${waiting} has waited for a release since ${since}`

/** `since 2026-11-22T14:03:00.000Z by anna@desk: version … stays; version … waits` */
const holdText = (versionId: string, { by, lost, since, until, waiting }: Hold): string =>
  [
    `since ${since}${by === undefined ? "" : ` by ${by}`}${until === undefined ? "" : ` until ${until}`}: version ${versionId} stays${lost === undefined ? "" : ` in place of ${lost}, which is no longer on disk`}`,
    ...(waiting === undefined
      ? []
      : [`version ${waiting} ${until === undefined ? "waits" : "is shown then"}`])
  ].join("; ")

const versionRow =
  (shownBy: ReadonlyArray<ScreenStatus>, activeId: string) =>
  ({ isRead, isWaiting, leases, versionId }: VersionOverview): Row => {
    const active = versionId === activeId
    const count = countOn(shownBy, versionId)
    return kv(
      versionId,
      [
        ...(active ? ["active"] : []),
        ...(isWaiting ? ["waiting"] : []),
        count === 0 ? "on no screen" : `on ${countText(count, "screen")}`,
        ...(active || leases.length === 0
          ? []
          : [`kept until ${new Date(Math.max(...leases.map(({ until }) => until))).toISOString()}`]),
        ...(isRead ? ["in use"] : [])
      ].join(", ")
    )
  }

/** The error is in the rows of its source, so this row does not repeat it. */
const lastFetchRow = (slice: ContentState): Row => {
  const { lastFetch, rejection, sources } = slice
  if (lastFetch === undefined) {
    return kv("Last fetch", "none yet", "neutral")
  }
  const { timestamp } = lastFetch
  if ("error" in lastFetch) {
    const { message } = lastFetch.error
    const isInSource = Object.values(sources).some(({ lastError }) => lastError?.message === message)
    const text = failureText(message, rejection)
    const failure = isInSource && text === message ? "see its source below" : text
    return kv("Last fetch", `${timestamp}, failed: ${failure}`, "error")
  }
  return kv(
    "Last fetch",
    `${timestamp}, ${countsText(lastFetch)}, ${resultOf(lastFetch, slice)}`,
    lastFetch.kept === undefined ? "ok" : "warn"
  )
}

/** What a fetch did: `new version; failed: tours`. */
const resultOf = (lastFetch: NonNullable<ContentState["lastFetch"]>, { versionId }: ContentState): string => {
  if ("error" in lastFetch) return "failed"
  const { changed, held, kept = [] } = lastFetch
  const { waiting } = held ?? {}
  const isNew = changed || (waiting !== undefined && waiting === versionId) // its hold has ended
  const result = isNew
    ? "new version"
    : waiting === undefined
      ? "nothing changed"
      : `version ${waiting} waits`
  return kept.length === 0 ? result : `${result}; failed: ${kept.map(({ sourceId }) => sourceId).join(", ")}`
}

const nextFetchText = ({ fetchingSince, isPolling, nextFetch }: ContentState): string =>
  fetchingSince !== undefined
    ? "running now"
    : isPolling === true
      ? "looking for changes now"
      : nextFetch === undefined
        ? "none planned"
        : `${nextFetch.at}${nextFetch.isRetry ? ", a retry: what failed may pass by itself" : ""}`

const rejectionRow = ({ since, sourceId, violations }: Rejection): Row =>
  list(
    "Rejected",
    [
      `since ${since}: the content of the source "${sourceId}" is not as expected; its content in the active version stays`,
      ...violations.map(violationText)
    ].map((line) => text(line, "error"))
  )

/** A version may need its whole size, although it usually shares most files with the previous version. */
const diskProblems = (name: string, { disk, failingSince }: ContentState): ReadonlyArray<Problem> => {
  const what = disk === undefined ? undefined : troubleOf(disk)
  return what === undefined
    ? []
    : [
        {
          code: "content:disk",
          severity: failingSince === undefined ? "warning" : "error",
          subject: name,
          text: `The disk of "${name}" ${what}`
        }
      ]
}

const troubleOf = (disk: NonNullable<ContentState["disk"]>): string | undefined => {
  if (disk.isReadOnly === true) {
    return "is read-only: no version can be saved. It may be failing: see its health, and mount it writable"
  }
  const missing = missingOn(disk)
  return missing && `has ${missing}: the next version may not fit. Make room, or lower "keepVersions"`
}

const missingOn = (disk: NonNullable<ContentState["disk"]>): string | undefined => {
  const { freeBytes, freeFiles, versionBytes, versionFiles } = disk
  return freeBytes < versionBytes
    ? `${sizeText(freeBytes)} free, and a version has ${sizeText(versionBytes)}`
    : freeFiles !== undefined && freeFiles < versionFiles
      ? `room for ${countText(freeFiles, "more file")} (inodes, "df -i"), and a version has ${versionFiles}`
      : undefined
}
