/**
 * Makes the report of a player for its hub: the parts of its view that the hub needs. Pure.
 */
import * as Array from "effect/Array"
import * as Schema from "effect/Schema"
import { nodeIdOf } from "../../internal/machine.ts"
import { excerpt, printableLine } from "../../internal/printable.ts"
import {
  maxLine,
  maxProblems,
  maxReportBytes,
  maxScreens,
  type PlayerReport,
  ReportedProblem,
  ReportedScreen
} from "../../services/PlayerReport.ts"
import type { Problem } from "../../services/Problem.ts"
import type { ScreenStatus, View } from "../../services/View.ts"
import { codes } from "../status/view.ts"

/** The facts that are not in the view. */
export interface Machine
  extends Pick<PlayerReport, "done" | "freeDisk" | "host" | "number" | "runId" | "vitrine"> {
  /** The name of the copied content. */
  readonly content: string
  /** The screens whose browsers can take pictures. */
  readonly watched?: ReadonlyArray<string> | undefined
  /** Oldest first. */
  readonly warnings: ReadonlyArray<string>
}

/** The longest name or id of the machine, in characters. */
const maxName = 128

/** The most items that are tried; no report has room for more. */
const maxItems = 256

/**
 * Fits into `maxReportBytes` as JSON. If it is too large, it omits the oldest warnings first, then the last screens,
 * then the last problems.
 */
export const makeReport = (
  { contents, header: { node, startTime }, now, problems, screens }: View,
  { content, done, freeDisk, host, number, runId, vitrine, warnings, watched = [] }: Machine
): PlayerReport => {
  const own = contents.find(({ name }) => name === content)
  const empty: PlayerReport = {
    vitrine: name(vitrine),
    sentAt: new Date(now).toISOString(),
    node: {
      id: name(node?.id ?? nodeIdOf(host)),
      label: nameIfAny(node?.label),
      role: nameIfAny(node?.role)
    },
    host: name(host),
    runId: name(runId),
    startTime: name(startTime),
    versionId: nameIfAny(own?.versionId),
    activeSince: nameIfAny(own?.activeSince),
    copiedPercent: own?.fetchedPercent,
    done,
    freeDisk,
    number,
    problems: [],
    screens: [],
    warnings: []
  }
  const isFirstFetch = own?.lastFetch?.failure === undefined
  const sent = problems.filter(
    ({ code, subject }) =>
      // These problems do not matter to a hub that reads the report.
      !(code === codes.hubSilent && subject === own?.reports?.to) &&
      !(code === codes.none && subject === content && isFirstFetch)
  )
  const seen = watched.filter(isNameable).slice(0, maxScreens)
  const room = makeRoom(maxReportBytes - sizeOf({ ...empty, moreProblems: sent.length, watched: [] }))
  const reported = Array.filterMap(sent.slice(0, maxItems), reportedProblem)
  const reportedProblems = room.take(reported.slice(0, maxProblems))
  return {
    ...empty,
    problems: reportedProblems,
    moreProblems: reported.length - reportedProblems.length || undefined,
    screens: room.take(Array.filterMap(screens.slice(0, maxItems), reportedScreen)),
    watched: seen.length === 0 ? undefined : room.take(seen),
    warnings: room.take(warnings.slice(-maxItems).map(excerpt).toReversed()).toReversed()
  }
}

const name = (text: string): string => printableLine(text, maxName)

const nameIfAny = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : name(text)

const decodeProblem = Schema.decodeUnknownOption(ReportedProblem)
const decodeScreen = Schema.decodeUnknownOption(ReportedScreen)

/** A hub refuses a report with an invalid time, so such a time is omitted. Mutes apply to the own machine only. */
const reportedProblem = ({ accept, muted, since, ...problem }: Problem) =>
  decodeProblem({ ...problem, since: timeIfAny(since) })

const timeIfAny = (text = ""): string | undefined =>
  Number.isNaN(Date.parse(text)) ? undefined : new Date(text).toISOString()

const reportedScreen = ({ id, lastReport, name: label, since, word }: ScreenStatus) =>
  decodeScreen({
    id,
    word,
    label: label === id ? undefined : label,
    since,
    versionId: lastReport?.versionId
  })

/** Whether the hub can name the screen as this player does: its id is not cut, and it is no screen of another player. */
const isNameable = (id: string): boolean =>
  id !== "" && !id.includes("/") && printableLine(id, maxLine) === id

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** Room for this many bytes of JSON. */
const makeRoom = (bytes: number) => {
  let remaining = bytes
  return {
    /** The first items, as many as fit. */
    take: <A>(items: ReadonlyArray<A>): ReadonlyArray<A> => {
      const none = items.findIndex((item) => {
        remaining -= sizeOf(item) + 1
        return remaining < 0
      })
      if (none === -1) return items
      remaining = 0
      return items.slice(0, none)
    }
  }
}
