/**
 * What the slice of a content means.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { outcomeText, progressText, waitText } from "../../internal/progressText.ts"
import { countText } from "../../internal/readable.ts"
import { vitrineVersion } from "../../internal/vitrineVersion.ts"
import type { SourceProgress } from "../../services/ContentSource.ts"
import type { Problem } from "../../services/Problem.ts"
import {
  type ContentState,
  type HealthRules,
  type Reports,
  type SourceState,
  TableSourceData,
  type Upstream
} from "../../services/Slices.ts"
import type { Row } from "../../services/StatusSnapshot.ts"
import type { Hold, VersionOverview } from "../../services/VersionStore.ts"
import { violationText } from "../../services/Violation.ts"
import { codes } from "../status/codes.ts"
import { rulesOf } from "../status/healthRules.ts"
import { kv, list, problemRow, text } from "../status/rows.ts"
import * as screens from "../status/screens.ts"
import { contentsOf, readingOf, reported, titleOf } from "../status/slices.ts"

export const reading = (name: string) =>
  readingOf(contentsOf, name, (slice, { now, state }) => ({
    sections: [
      {
        name,
        order: 10,
        title: titleOf("Content", name, slice),
        rows: rows(
          slice,
          screens.screensOf(state, now).filter(({ content }) => content === name)
        )
      }
    ],
    problems: problems(name, slice, rulesOf(state), now),
    logs: [
      codes.none,
      codes.held,
      codes.hubSilent,
      "content:failing",
      "content:upstream",
      "source:changes",
      "source:waiting",
      "source:warning"
    ]
  }))

export const problems = (
  name: string,
  slice: ContentState,
  { failingForMs, maxAgeMs }: HealthRules,
  now: number
): ReadonlyArray<Problem> => {
  const { copiedFrom = [], failingSince, held, reports, sources, versionId } = slice
  const found: Array<Problem> = []
  const error = errorOf(slice)
  if (versionId === undefined) {
    const why =
      error ?? (slice.fetchingSince === undefined ? "nothing was fetched yet" : "the first fetch is running")
    found.push({
      code: codes.none,
      severity: "error",
      subject: name,
      text: `There is no version of "${name}": ${why}`
    })
  } else if (error !== undefined && failingSince !== undefined) {
    const isLong = now - Date.parse(failingSince) >= failingForMs
    found.push({
      code: "content:failing",
      severity: isLong ? "error" : "warning",
      subject: name,
      text: `Fetches of "${name}" have failed since ${failingSince}: ${error}`,
      since: failingSince
    })
  }
  const checkedAt = slice.lastSuccess ?? slice.generatedAt
  if (maxAgeMs !== undefined && checkedAt !== undefined && now - Date.parse(checkedAt) > maxAgeMs) {
    found.push({
      code: "content:old",
      severity: "error",
      subject: name,
      text: `"${name}" is too old: it was last up to date at ${checkedAt}`,
      since: checkedAt
    })
  }
  if (held !== undefined && held.byRule === undefined) {
    const by = held.by === undefined ? "" : ` by ${held.by}`
    const waiting = held.waiting === undefined ? "" : `; version ${held.waiting} waits`
    found.push({
      code: codes.held,
      severity: "warning",
      subject: name,
      text: `"${name}" is held since ${held.since}${by}${waiting}. "vitrine resume" ends that`,
      since: held.since
    })
  }
  // A hub that is away is one problem: where nothing else can be copied from, that fetches fail.
  const away = copiedFrom.filter(({ problem }) => problem !== undefined)
  const isNamed = error !== undefined && away.length === copiedFrom.length
  return [
    ...found,
    ...(isNamed ? [] : copiedFrom)
      .filter((upstream) => upstreamTone(upstream) !== "ok" && upstream.askedAt !== undefined)
      .map((upstream) => ({
        ...warning("content:upstream", `${upstream.url}: ${upstreamText(upstream)}`),
        subject: upstream.url
      })),
    ...(reports === undefined || away.some(({ url }) => originOf(url) === originOf(reports.to))
      ? []
      : reportsProblems(reports, now)),
    ...Object.entries(sources).flatMap(([id, source]) => sourceProblems(id, source))
  ]
}

const originOf = (url: string): string => new URL(url).origin

/** How long a hub may be away: it is started again, say. */
const hubSilentMs = 30_000

const reportsProblems = ({ problem, to }: Reports, now: number): ReadonlyArray<Problem> =>
  problem === undefined || now - Date.parse(problem.since) < hubSilentMs
    ? []
    : [
        {
          code: codes.hubSilent,
          severity: "warning",
          subject: to,
          text: `The hub has not taken reports since ${problem.since}: ${problem.reason}`,
          since: problem.since
        }
      ]

const warning = (code: string, text: string): Problem => ({ code, severity: "warning", text })

const sourceProblems = (id: string, { data, lastSuccess, progress }: SourceState): ReadonlyArray<Problem> => {
  const ofSource = (code: string, text: string) => warning(code, `Source "${id}": ${text}`)
  const changes = tableDataOf(data).changes?.problem
  return [
    ...(lastSuccess?.warnings ?? []).map((text) => ofSource("source:warning", text)),
    ...(progress?.waiting !== undefined && isHeldUp(progress)
      ? [{ ...ofSource("source:waiting", waitText(progress.waiting)), subject: id }]
      : []),
    ...(changes === undefined ? [] : [{ ...ofSource("source:changes", changesText(changes)), subject: id }]),
    ...reported(data)
  ]
}

/** Whether it waits for something else than its own pace. */
const isHeldUp = ({ waiting }: SourceProgress): boolean =>
  waiting !== undefined && waiting.reason !== "pacing"

/** `shownBy` are the screens of this content. */
export const rows = (
  slice: ContentState,
  shownBy: ReadonlyArray<screens.ScreenStatus>
): ReadonlyArray<Row> => {
  const { copiedFrom, held, rejection, reports, sources, versions = [] } = slice
  return [
    kv("Active version", activeOf(versions)),
    ...screens.problemRows(shownBy),
    ...(held === undefined ? [] : [holdRow(activeOf(versions), held)]),
    ...(rejection === undefined ? [] : [rejectionRow(rejection)]),
    lastFetchRow(slice),
    kv("Next fetch", nextFetchText(slice)),
    ...(copiedFrom === undefined ? [] : [list("Copied from", copiedFrom.map(upstreamRow))]),
    ...(reports === undefined ? [] : reportsRows(reports)),
    list(
      "Sources",
      Object.entries(sources).map(([id, source]) => list(id, sourceRows(source, rejection)))
    ),
    list("Screens", screens.rows(shownBy)),
    list("Versions on disk", versions.map(versionRow(shownBy)))
  ]
}

const activeOf = (versions: ReadonlyArray<VersionOverview>): string =>
  versions.find(({ active }) => active)?.versionId ?? "none"

const holdRow = (versionId: string, held: Hold): Row =>
  held.byRule === undefined ? kv("Held", holdText(versionId, held), "warn") : kv("Waits", waitsText(held))

/** The active version, and what waits behind it. */
export const activeText = (versionId: string, held: Hold | undefined): string =>
  held === undefined
    ? versionId
    : held.byRule === undefined
      ? `${versionId}, held ${holdText(versionId, held)}`
      : `${versionId}; there waits ${waitsText(held)}`

const waitsText = ({ since, waiting }: Hold): string => `version ${waiting}, to be released, since ${since}`

/** `since 2026-11-22T14:03:00.000Z by anna@desk: version … stays; version … waits` */
const holdText = (versionId: string, { by, lost, since, waiting }: Hold): string =>
  [
    `since ${since}${by === undefined ? "" : ` by ${by}`}: version ${versionId} stays${lost === undefined ? "" : ` in the place of ${lost}, which is not on disk any more`}`,
    ...(waiting === undefined ? [] : [`version ${waiting} waits`])
  ].join("; ")

const versionRow =
  (shownBy: ReadonlyArray<screens.ScreenStatus>) =>
  (version: VersionOverview): Row => {
    const { active, isRead, isWaiting, leases, versionId } = version
    const count = screens.countOn(shownBy, versionId)
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

const errorOf = ({ lastFetch }: ContentState): string | undefined =>
  lastFetch !== undefined && "error" in lastFetch ? lastFetch.error.message : undefined

const lastFetchRow = ({ lastFetch, rejection }: ContentState): Row => {
  if (lastFetch === undefined) {
    return kv("Last fetch", "none yet", "neutral")
  }
  const { timestamp } = lastFetch
  if ("error" in lastFetch) {
    const failure = failureText(lastFetch.error.message, rejection)
    return kv("Last fetch", `${timestamp}, failed: ${failure}`, "error")
  }
  const { changed, held, records } = lastFetch
  const result = changed
    ? "new version"
    : held?.waiting === undefined
      ? "nothing changed"
      : `version ${held.waiting} waits`
  return kv("Last fetch", `${timestamp}, ${countText(records, "record")}, ${result}`, "ok")
}

const nextFetchText = ({ fetchingSince, isPolling, nextFetch }: ContentState): string =>
  fetchingSince !== undefined
    ? "running now"
    : isPolling === true
      ? "looking for changes now"
      : nextFetch === undefined
        ? "none planned"
        : `${nextFetch.at}${nextFetch.isRetry ? ", a retry: what failed may pass by itself" : ""}`

type Rejection = NonNullable<ContentState["rejection"]>

/** What was rejected stands in a row of its own. */
const failureText = (message: string, rejection: Rejection | undefined): string =>
  rejection?.violations.every((violation) => message.includes(violationText(violation))) === true
    ? "rejected, see above"
    : message

const rejectionRow = ({ since, sourceId, violations }: Rejection): Row =>
  list(
    "Rejected",
    [
      `since ${since}: what the source "${sourceId}" gives is not as expected; the active version stays`,
      ...violations.map(violationText)
    ].map((line) => text(line, "error"))
  )

const reportsRows = ({ problem, takenAt, to, vitrine }: Reports): ReadonlyArray<Row> => [
  problem !== undefined
    ? kv(`Reports to ${to}`, `not taken since ${problem.since}: ${problem.reason}`, "warn")
    : takenAt === undefined
      ? kv(`Reports to ${to}`, "none taken yet", "neutral")
      : kv(`Reports to ${to}`, `taken at ${takenAt}`, "ok"),
  ...(vitrine === undefined || vitrine === vitrineVersion
    ? []
    : [text(`The hub runs Vitrine ${vitrine}, this is ${vitrineVersion}`, "neutral")])
]

const upstreamRow = (upstream: Upstream): Row => {
  const { askedAt, url } = upstream
  const said = upstreamText(upstream)
  return kv(url, askedAt === undefined ? said : `${askedAt}, ${said}`, upstreamTone(upstream))
}

const upstreamText = ({ askedAt, problem, versionId }: Upstream): string =>
  askedAt === undefined
    ? "not asked yet"
    : problem !== undefined
      ? `failed: ${problem}`
      : versionId === undefined
        ? "it has no version yet (404 for manifest.json)"
        : `version ${versionId}`

const upstreamTone = ({ askedAt, problem, versionId }: Upstream) =>
  askedAt === undefined
    ? "neutral"
    : problem !== undefined
      ? "error"
      : versionId === undefined
        ? "warn"
        : "ok"

const sourceRows = (
  { data, fetchingSince, lastError, lastSuccess, progress }: SourceState,
  rejection: Rejection | undefined
): ReadonlyArray<Row> => [
  progress !== undefined
    ? kv("Now", progressText(progress), isHeldUp(progress) ? "warn" : "ok")
    : fetchingSince !== undefined
      ? kv("Now", "starting to fetch", "ok")
      : kv("Now", "idle", "neutral"),
  lastSuccess === undefined
    ? kv("Last success", "none yet", "neutral")
    : kv("Last success", `${lastSuccess.timestamp}, ${outcomeText(lastSuccess)}`, "ok"),
  ...(lastSuccess?.warnings ?? []).map((warning) => kv("Warning", warning, "warn")),
  lastError === undefined
    ? kv("Last error", "none", "neutral")
    : kv(
        "Last error",
        `${lastError.timestamp}, ${failureText(lastError.message, rejection)}`,
        lastError.timestamp > (lastSuccess?.timestamp ?? "") ? "error" : "neutral"
      ),
  ...dataRows(data)
]

/** What a table source says of itself, and what another one does: its problems, and its texts and figures by their names. */
const dataRows = (data: SourceState["data"] = {}): ReadonlyArray<Row> => {
  const { calls, callsWithoutLooks, changes } = tableDataOf(data)
  return [
    ...(changes === undefined
      ? []
      : changes.problem === undefined
        ? [kv("Changes", "asked for at every tick", "ok")]
        : [kv("Changes", changesText(changes.problem), "warn")]),
    ...(calls === undefined ? [] : [kv("API calls", callsText(calls, callsWithoutLooks))]),
    ...reported(data).map(problemRow),
    ...Object.entries(data).flatMap(([label, value]) =>
      Predicate.isString(value) || Predicate.isNumber(value) ? [kv(label, String(value))] : []
    )
  ]
}

const decodeTableData = Schema.decodeUnknownOption(TableSourceData)

const tableDataOf = (data: unknown): TableSourceData => Option.getOrElse(decodeTableData(data), () => ({}))

type Changes = NonNullable<TableSourceData["changes"]>

const changesText = ({ reason, retryAt }: NonNullable<Changes["problem"]>): string =>
  `it cannot be asked what has changed: ${reason}. All tables are read instead; asked again at ${retryAt}`

type Calls = NonNullable<TableSourceData["calls"]>

const callsText = (calls: Calls, without: Calls | undefined): string =>
  `${perDayAndMonth(calls)}${
    without === undefined ? "" : `; ${perDayAndMonth(without)} if all tables were read at every tick`
  } (UTC, since the start)`

const perDayAndMonth = ({ month, today }: Calls): string =>
  `${today.toLocaleString("en")} today, ${month.toLocaleString("en")} this month`
