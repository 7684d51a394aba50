/**
 * The rows and problems of a replica's hub: copying versions from the hub, and reporting to it.
 */
import { vitrineVersion } from "../../internal/machine.ts"
import { hasPassed } from "../../internal/monotonicMillis.ts"
import type { Problem } from "../../services/Problem.ts"
import type { ContentState, Reports, Upstream } from "../../services/Slices.ts"
import type { Row, Tone } from "../../services/StatusSnapshot.ts"
import { kv, text } from "../status/rows.ts"
import { codes } from "../status/view.ts"

type HubState = Pick<ContentState, "copiedFrom" | "reports">

const isAway = ({ copiedFrom }: HubState): boolean => copiedFrom?.problem !== undefined

/** Codes that are no problem while the place is closed: the hub may be off. */
export const awayCodes = (slice: HubState): ReadonlySet<string> =>
  new Set(["content:upstream", codes.hubSilent, ...(isAway(slice) ? ["content:failing"] : [])])

/** A hub that is away causes one problem: fetches fail. */
export const problems = (
  slice: HubState,
  areFetchesFailing: boolean,
  now: number
): ReadonlyArray<Problem> => {
  const { copiedFrom, reports } = slice
  const isSilent = (to: string) =>
    copiedFrom?.problem !== undefined && originOf(copiedFrom.url) === originOf(to)
  return [
    ...(copiedFrom === undefined || (areFetchesFailing && isAway(slice)) ? [] : upstreamProblems(copiedFrom)),
    ...(reports === undefined || isSilent(reports.to) ? [] : reportsProblems(reports, now))
  ]
}

/** Why nothing is known of a problem of the hub: it was not asked yet, or is away, which is another problem. */
export const unwatched = ({ copiedFrom, reports }: HubState, { code, subject }: Problem) => {
  const isUpstream = code === "content:upstream"
  if (!isUpstream && code !== codes.hubSilent) return undefined
  if (subject !== (isUpstream ? copiedFrom?.url : reports?.to)) return "not configured"
  const succeededAt = isUpstream ? copiedFrom?.askedAt : reports?.takenAt
  const { problem } = (isUpstream ? copiedFrom : reports) ?? {}
  return succeededAt === undefined || problem !== undefined ? "not known" : undefined
}

const upstreamProblems = (upstream: Upstream): ReadonlyArray<Problem> => {
  const { text, tone } = meaningOf(upstream)
  const { url: subject } = upstream
  return tone === "error" || tone === "warn"
    ? [{ code: "content:upstream", severity: "warning", subject, text: `${subject}: ${text}` }]
    : []
}

const originOf = (url: string): string => new URL(url).origin

export const rows = ({ copiedFrom, reports }: HubState): ReadonlyArray<Row> => [
  ...(copiedFrom === undefined ? [] : [upstreamRow(copiedFrom)]),
  ...(reports === undefined ? [] : reportsRows(reports))
]

/** How long a hub may be silent, for example while it restarts, in milliseconds. */
const hubSilentMs = 30_000

const reportsProblems = ({ problem, to }: Reports, now: number): ReadonlyArray<Problem> =>
  problem === undefined || !hasPassed(hubSilentMs, Date.parse(problem.since), now)
    ? []
    : [
        {
          code: codes.hubSilent,
          severity: "warning",
          subject: to,
          text: `The hub has not accepted reports since ${problem.since}: ${problem.reason}`,
          since: problem.since
        }
      ]

const reportsRows = ({ problem, takenAt, to, vitrine }: Reports): ReadonlyArray<Row> => [
  problem !== undefined
    ? kv(`Reports to ${to}`, `not accepted since ${problem.since}: ${problem.reason}`, "warn")
    : takenAt === undefined
      ? kv(`Reports to ${to}`, "none accepted yet", "neutral")
      : kv(`Reports to ${to}`, `accepted at ${takenAt}`, "ok"),
  ...(vitrine === undefined || vitrine === vitrineVersion
    ? []
    : [text(`The hub runs Vitrine ${vitrine}, this is ${vitrineVersion}`, "neutral")])
]

const upstreamRow = (upstream: Upstream): Row => {
  const { askedAt, url } = upstream
  const { text, tone } = meaningOf(upstream)
  return kv("Copied from", askedAt === undefined ? `${url}: ${text}` : `${url} at ${askedAt}: ${text}`, tone)
}

const meaningOf = ({
  askedAt,
  problem,
  versionId
}: Upstream): { readonly text: string; readonly tone: Tone } =>
  askedAt === undefined
    ? { text: "not asked yet", tone: "neutral" }
    : problem !== undefined
      ? { text: `failed: ${problem}`, tone: "error" }
      : versionId === undefined
        ? { text: "it has no version yet (404 for manifest.json)", tone: "warn" }
        : { text: `version ${versionId}`, tone: "ok" }
