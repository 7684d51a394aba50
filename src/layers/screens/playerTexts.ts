/**
 * Texts about players: one by one, all together, and as a section of the status. Needs no other library.
 */
import { vitrineVersion } from "../../internal/machine.ts"
import { excerpt } from "../../internal/printable.ts"
import { countText } from "../../internal/readable.ts"
import type { Player } from "../../services/PlayerReport.ts"
import type { Section } from "../../services/StatusSnapshot.ts"
import { playerStates, screenStates } from "../../services/screenStates.ts"
import type { PlayerState, PlayerStatus } from "../../services/View.ts"
import { firstRows, kv, muteText, text, worstTone } from "../status/rows.ts"

const offStates: ReadonlySet<PlayerState> = new Set(["silent", "never seen", "stopped", "closed for the day"])

/** Whether the player does not report: its last report is old. */
export const isOff = (word: PlayerState): boolean => offStates.has(word)

/** Always in the same order, whichever machine reported last. */
export const machinesText = (lastReport: Player): string =>
  [lastReport, ...(lastReport.duplicate === undefined ? [] : [lastReport.duplicate])]
    .map(({ address, host }) => `${host} (${address})`)
    .toSorted()
    .join(" and ")

export const versionText = ({ versionId }: Player): string =>
  versionId === undefined ? "no version" : `version ${versionId}`

/** The state of a player, and its progress while it copies. */
export const stateText = ({ lastReport, word }: PlayerStatus): string =>
  word === "copying" ? `copying ${Math.floor(lastReport?.copiedPercent ?? 0)} %` : word

/**
 * Details beside the state: version, reported problems, duplicate machines, a different version of Vitrine, and who
 * muted its problems if all are muted. Empty without details.
 */
export const detailOf = (player: PlayerStatus): string => {
  const [worst] = player.problems
  return [
    ...reportedDetails(player),
    ...(worst?.muted === undefined ? [] : [`muted ${muteText(worst.muted)}`])
  ]
    .filter((detail) => detail !== "")
    .join("; ")
}

const reportedDetails = ({ lastReport, word }: PlayerStatus): ReadonlyArray<string> => {
  if (word === "stopped") {
    return [`by ${lastReport?.stoppedBy}`]
  }
  if (lastReport === undefined || isOff(word)) {
    return []
  }
  return [
    ...(lastReport.duplicate === undefined ? [] : [`two machines, ${machinesText(lastReport)}`]),
    ...(word === "behind" ? [versionText(lastReport)] : []),
    reportText(lastReport),
    ...(isOfAnotherVitrine(lastReport) ? [`Vitrine ${lastReport.vitrine}`] : [])
  ]
}

/** The worst reported problem, and the number of further ones; empty without problems. */
const reportText = ({ moreProblems = 0, problems }: Player): string => {
  const worst = problems.find(({ severity }) => severity === "error") ?? problems[0]
  const more = problems.length + moreProblems - 1
  return worst === undefined
    ? ""
    : `${excerpt(worst.text)}${more > 0 ? ` (and ${countText(more, "more problem")})` : ""}`
}

const isOfAnotherVitrine = ({ vitrine }: Player): boolean => vitrine !== vitrineVersion

/** `38 of 40 players are up to date; 1 silent, 1 behind` */
export const summaryOf = (players: ReadonlyArray<PlayerStatus>): string => {
  const total = countText(players.length, "player")
  if (players.length === 0) {
    return "no player has reported yet"
  }
  if (players.every(({ word }) => word === "closed for the day")) {
    return `${total} closed for the day`
  }
  const others = players.filter(({ word }) => word !== "up to date")
  const upToDate = `${players.length - others.length} of ${total} ${players.length === 1 ? "is" : "are"} up to date`
  return others.length === 0 ? upToDate : `${upToDate}; ${countsOf(others)}`
}

/** `1 silent, 1 behind`, the worst first. */
const countsOf = (players: ReadonlyArray<PlayerStatus>): string =>
  Object.entries(countStates(players, playerStates))
    .map(([word, count]) => `${count} ${word === "problem" ? "with a problem" : word}`)
    .join(", ")

/** How many screens are in each state, the worst state first. */
export const screenCounts = ({ screens }: Player): Readonly<Record<string, number>> =>
  countStates(screens, screenStates)

/** Counts by state, in this order, then other states. */
const countStates = (
  all: ReadonlyArray<{ readonly word: string }>,
  order: ReadonlyArray<string>
): Readonly<Record<string, number>> =>
  Object.fromEntries(
    [...new Set([...order, ...all.map(({ word }) => word)])]
      .map((word) => [word, all.filter((one) => one.word === word).length] as const)
      .filter(([, count]) => count > 0)
  )

/** Whether a player needs attention: it has a problem, or is neither up to date nor closed for the day. */
export const isUnwell = ({ problems, word }: PlayerStatus): boolean =>
  problems.length > 0 || (word !== "up to date" && word !== "closed for the day")

/** How many players are up to date, and a row for each player that needs attention. */
export const playersSection = (players: ReadonlyArray<PlayerStatus>): Section => {
  const others = players.filter(
    ({ lastReport }) => lastReport !== undefined && isOfAnotherVitrine(lastReport)
  ).length
  const versions = `${countText(others, "player")} ${others === 1 ? "runs" : "run"} another version of Vitrine than this hub, ${vitrineVersion}`
  const rows = [
    kv("All", summaryOf(players)),
    ...firstRows(players.filter(isUnwell), (player) =>
      kv(player.name, playerText(player), worstTone(player, "neutral"))
    ),
    ...(others === 0 ? [] : [text(versions, "neutral")])
  ]
  return { name: "players", order: 31, title: "Players", rows }
}

const playerText = (player: PlayerStatus): string => {
  const { since, word } = player
  const detail = detailOf(player)
  if (word === "stopped") {
    return `stopped ${detail} at ${since}`
  }
  const when = since === undefined ? "" : word === "silent" ? `, last report at ${since}` : ` since ${since}`
  return `${stateText(player)}${when}${detail === "" ? "" : `: ${detail}`}`
}
