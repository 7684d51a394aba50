/**
 * `vitrine versions` and `vitrine verify`
 */
import { countsText, sumCounts } from "../../internal/contentCounts.ts"
import { printableLine } from "../../internal/printable.ts"
import { countText, localTime, momentText, sizeText } from "../../internal/readable.ts"
import {
  type FileProblem,
  type Hold,
  Verification,
  type VersionSummary,
  VersionsReport
} from "../../services/VersionStore.ts"
import * as ContentCommand from "./ContentCommand.ts"

export const versions = ContentCommand.make({
  name: "versions",
  result: VersionsReport,
  isOnDisk: true,
  text: (report, { now }) => reportText(report, now)
})

/** The longest line about changes, in characters. */
const maxWords = 500

/** The newest version first, with at most seven lines each. */
const reportText = (report: VersionsReport, now: number): string =>
  [
    ...(report.versions.length === 0 ? ['There are no versions on disk: "vitrine fetch" makes one.'] : []),
    ...report.versions.toReversed().map((version) => versionText(version, report, now)),
    ...(report.held === undefined ? [] : [holdText(report.held, now)])
  ].join("\n")

const versionText = (
  {
    active,
    changes = [],
    generatedAt,
    isRead,
    isWaiting,
    leases,
    sources,
    versionId
  }: VersionsReport["versions"][number],
  { held, released }: VersionsReport,
  now: number
): string => {
  const isHeld = held !== undefined && held.byRule === undefined
  const marks = [...(active ? [isHeld ? "active, held" : "active"] : []), ...(isWaiting ? ["waits"] : [])]
  const consumers = leases.flatMap(({ consumerId, isSilent }) =>
    isSilent ? [] : [printableLine(consumerId)]
  )
  return [
    [versionId, ...marks].join("  "),
    sources === undefined || generatedAt === undefined
      ? "  its files.json is missing or cannot be read"
      : `  made ${momentText(new Date(generatedAt), now)}: ${sources.map((source) => sourceText(source, now)).join("; ")}`,
    ...(active && released !== undefined
      ? [
          `  released ${momentText(new Date(released.at), now)}${released.until === undefined ? byText(released) : `: the hold until ${localTime(new Date(released.until), now)} has ended`}`
        ]
      : []),
    ...changes.map((words) => `  ${printableLine(words, maxWords)}`),
    ...(consumers.length > 0 ? [`  shown by ${consumers.join(", ")}`] : []),
    ...(isRead ? ["  in use"] : [])
  ].join("\n")
}

const sourceText = (
  { bytes, files, keptSince, sourceId, ...counted }: VersionSummary["sources"][number],
  now: number
): string => {
  const counts = [
    ...(counted.records || counted.values ? [countsText(sumCounts([counted]))] : []),
    countText(files, "file"),
    sizeText(bytes),
    ...(keptSince === undefined
      ? []
      : [`from before ${momentText(new Date(keptSince), now)}, when its fetches began to fail`])
  ]
  return `${printableLine(sourceId)} (${counts.join(", ")})`
}

const holdText = ({ by, byRule, lost, since, until, waiting }: Hold, now: number): string =>
  byRule
    ? `Since ${momentText(new Date(since), now)}, version ${waiting} waits: "vitrine release" makes it the active one.`
    : [
        `Held since ${momentText(new Date(since), now)}${byText({ by })}${until === undefined ? "" : `, until ${momentText(new Date(until), now)}`}.`,
        ...(lost === undefined ? [] : [`It replaces version ${lost}, which is no longer on disk.`]),
        ...(until === undefined || waiting === undefined ? [] : [`Version ${waiting} is shown then.`]),
        `"vitrine resume" ${waiting === undefined ? "ends the hold." : `makes version ${waiting} the active one${until === undefined ? "" : " at once"}.`}`
      ].join(" ")

const byText = ({ by }: { readonly by?: string | undefined }): string =>
  by === undefined ? "" : ` by ${printableLine(by)}`

export const verify = ContentCommand.make({
  name: "verify",
  fields: (versionId) => ({ versionId }),
  result: Verification,
  isOnDisk: true,
  interrupted: { there: "The controller goes on verifying.", here: "Interrupted before the end." },
  text: (verification, { isHere }) =>
    [...verification.problems.map(problemText), verifiedText(verification, isHere)].join("\n"),
  isFailure: ({ problems }) => problems.length > 0
})

const problemText = ({ path, problem }: FileProblem): string =>
  `${printableLine(path)} ${whatIsWrong[problem]}`

const whatIsWrong: Readonly<Record<FileProblem["problem"], string>> = {
  missing: "is missing",
  size: "has another size than when it was written",
  content: "has other content than when it was written",
  unreadable: "cannot be read",
  unexpected: "does not belong to the version"
}

const verifiedText = ({ bytes, files, problems, versionId }: Verification, isHere: boolean): string => {
  const verified = `Version ${versionId}: ${countText(files, "file")}, ${sizeText(bytes)}`
  return problems.length === 0
    ? `${verified}, all as they were written.`
    : `${verified}, ${countText(problems.length, "problem")}. ${isHere ? mendedHere : mendedThere}`
}

/** A running controller remembers the damaged files until it ends. */
const mendedThere = `If it is the active version, "vitrine fetch" replaces it.`
const mendedHere = `Start the controller and verify again: if it is the active version, "vitrine fetch" replaces it then.`
