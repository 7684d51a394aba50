/**
 * What the slice of a content says of the controllers that its versions are copied from, and that it reports to.
 */
import { vitrineVersion } from "../../internal/vitrineVersion.ts"
import type { Problem } from "../../services/Problem.ts"
import type { ContentState, Reports, Upstream } from "../../services/Slices.ts"
import type { Row } from "../../services/StatusSnapshot.ts"
import { codes } from "../status/codes.ts"
import { kv, list, text } from "../status/rows.ts"

type HubState = Pick<ContentState, "copiedFrom" | "reports">

/** Whether nothing can be copied from anywhere. */
const isAway = ({ copiedFrom = [] }: HubState): boolean =>
  copiedFrom.length > 0 && copiedFrom.every(({ problem }) => problem !== undefined)

/** Codes of what is no problem while the place is closed: the hub may be off. */
export const awayCodes = (slice: HubState): ReadonlySet<string> =>
  new Set(["content:upstream", codes.hubSilent, ...(isAway(slice) ? ["content:failing"] : [])])

/** A hub that is away is one problem: where nothing else can be copied from, that fetches fail. */
export const problems = (
  slice: HubState,
  areFetchesFailing: boolean,
  now: number
): ReadonlyArray<Problem> => {
  const { copiedFrom = [], reports } = slice
  const away = copiedFrom.filter(({ problem }) => problem !== undefined)
  return [
    ...(areFetchesFailing && isAway(slice) ? [] : copiedFrom)
      .filter((upstream) => upstreamTone(upstream) !== "ok" && upstream.askedAt !== undefined)
      .map(
        (upstream): Problem => ({
          code: "content:upstream",
          severity: "warning",
          subject: upstream.url,
          text: `${upstream.url}: ${upstreamText(upstream)}`
        })
      ),
    ...(reports === undefined || away.some(({ url }) => originOf(url) === originOf(reports.to))
      ? []
      : reportsProblems(reports, now))
  ]
}

const originOf = (url: string): string => new URL(url).origin

export const rows = ({ copiedFrom, reports }: HubState): ReadonlyArray<Row> => [
  ...(copiedFrom === undefined ? [] : [list("Copied from", copiedFrom.map(upstreamRow))]),
  ...(reports === undefined ? [] : reportsRows(reports))
]

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
