/**
 * What the players of a hub do: each in one word, what is wrong with it as a problem, and both for the status.
 */
import * as Order from "effect/Order"
import * as String from "effect/String"
import { excerpt } from "../../internal/printable.ts"
import { countText, durationText } from "../../internal/readable.ts"
import { vitrineVersion } from "../../internal/vitrineVersion.ts"
import type { Problem } from "../../services/Problem.ts"
import type { ContentState, Player } from "../../services/Slices.ts"
import type { GlobalState, Row, Section } from "../../services/StatusSnapshot.ts"
import { codes as problemCodes } from "./codes.ts"
import { withMutes } from "./mutes.ts"
import { openAt } from "./openingHours.ts"
import { errorsFirst, firstRows, kv, muteText, text, tones, worstTone } from "./rows.ts"
import { awayCodes, isAwayWord, maxRestarts, screenWords } from "./screens.ts"
import { contentServersOf, contentsOf } from "./slices.ts"

/**
 * `behind`: it has another version than the active one of the hub, and copies nothing. `held`: somebody holds its version. `problem`: it
 * reports an error or that it cannot fetch, was started again and again, or two machines report as the same player. `silent`: it has not
 * reported for 25 s. `never seen` is only what is expected. `stopped`: it has said who asked it to end, less than a day ago and not
 * before its place opened. `closed for the day`: it would be silent, never seen or stopped, outside its hours.
 */
export type PlayerWord = (typeof words)[number]

/** From the worst. */
const words = [
  "silent",
  "never seen",
  "problem",
  "behind",
  "held",
  "copying",
  "up to date",
  "stopped",
  "closed for the day"
] as const

/** A player that is expected, or has reported. */
export interface PlayerStatus {
  readonly id: string
  /** What the configuration of the hub calls it, or else what it calls itself, or else its id. */
  readonly name: string
  readonly isExpected: boolean
  readonly word: PlayerWord
  /** By the clock of the hub, ISO 8601, UTC; missing where that is not known. For a silent or stopped player, the time of its last report. */
  readonly since?: string
  /** What is wrong, and what it reports or, if it is silent, has reported last; errors first. */
  readonly problems: ReadonlyArray<Problem>
  /** Its last report, if there is one. */
  readonly said?: Player
}

type State = Pick<GlobalState, "plugins" | "system">

const silentMs = 25_000
const behindMs = 60_000
const duplicateMs = 60_000

/** How far the clock of a player may be off. */
const maxClockOffset = 60_000

/** How long it may be stopped, where nobody says when its place is open. */
const stoppedMs = 86_400_000

/** How long an expected player may take to report after the start of the hub. */
const settlingMs = 60_000

/** How long the silence of an unexpected player is a problem. */
const missedMs = 10 * 60_000

/** The worst first. */
export const playersOf = (state: State, now: number): ReadonlyArray<PlayerStatus> => {
  const { players = [], startTime } = state.system
  const expected = new Map(players.map((player) => [player.id, player]))
  const openSince = openAt(state.system, now)
  const reports = reportsOf(state)
  const heard = [...reports].map(([id, { content, said }]): Found => {
    const since = openSince(expected.get(id)?.hours)
    const heard = since === undefined ? withoutAway(said) : said
    return {
      id,
      name: expected.get(id)?.label ?? said.node.label ?? id,
      isExpected: expected.has(id),
      said: heard,
      ...closedUnless(since, wordOf(heard, content, { now, since }))
    }
  })
  const unseen = players.flatMap(
    ({ hours, id, label = id }): ReadonlyArray<Found> =>
      reports.has(id)
        ? []
        : [
            {
              id,
              name: label,
              isExpected: true,
              ...closedUnless(openSince(hours), word("never seen", startTime))
            }
          ]
  )
  const mark = withMutes(state, now)
  const hub = { now, startTime, takesReports: takesReports(state) }
  return [...heard, ...unseen]
    .map((player): PlayerStatus => ({ ...player, problems: mark(problemsOf(player, hub)) }))
    .toSorted(byRank)
}

type Found = Omit<PlayerStatus, "problems">

interface Heard {
  readonly said: Player
  /** What the hub itself has; missing where it has none. */
  readonly content: ContentState | undefined
}

/** By the ids of the players. */
const reportsOf = (state: State): ReadonlyMap<string, Heard> => {
  const contents = new Map(contentsOf(state))
  return new Map(
    contentServersOf(state).flatMap(([name, { players = [] }]) =>
      players.map(
        (said) => [said.node.id, { said, content: contents.get(name.replace(/-server$/, "")) }] as const
      )
    )
  )
}

const wordOf = (
  said: Player,
  { activeSince = "", versionId }: Partial<ContentState> = {},
  { now, since = now }: { readonly now: number; readonly since: number | undefined }
) => {
  const { copiedPercent, heardAt, problems, stoppedBy } = said
  const at = Date.parse(heardAt)
  if (stoppedBy !== undefined) {
    return word(at >= since && now - at < stoppedMs ? "stopped" : "silent", heardAt)
  }
  if (now - at >= silentMs) {
    return word("silent", heardAt)
  }
  if (duplicateOf(said, now) !== undefined || isRestarting(said)) {
    return word("problem")
  }
  const worst = problems.find(isError) ?? problems.find(({ code }) => code === "content:failing")
  if (worst !== undefined) {
    return word("problem", hubTime(said, worst.since))
  }
  const held = problems.find(({ code }) => code === problemCodes.held)
  if (held !== undefined) {
    return word("held", hubTime(said, held.since))
  }
  if (copiedPercent !== undefined) {
    return word("copying")
  }
  const shownSince = hubTime(said, said.activeSince)
  const behindSince = shownSince !== undefined && shownSince > activeSince ? shownSince : activeSince
  return versionId !== undefined && said.versionId !== versionId
    ? word("behind", behindSince)
    : word("up to date", shownSince)
}

const isRestarting = ({ restarts = 0 }: Player): boolean => restarts > maxRestarts
/** What it says while its place is closed: a screen that is off is no problem. */
const withoutAway = (said: Player): Player => ({
  ...said,
  problems: said.problems.filter(({ code }) => !awayCodes.has(code)),
  screens: said.screens.map((screen) =>
    isAwayWord(screen.word) ? { ...screen, word: "closed for the day" } : screen
  )
})

/** What is off while its place is closed. */
const closedUnless = (openSince: number | undefined, { word, ...found }: Pick<Found, "since" | "word">) => ({
  ...found,
  word: openSince === undefined && isOff(word) ? ("closed for the day" as const) : word
})

/** Whether it is not heard of: what it reported last is old. */
export const isOff = (word: PlayerWord): boolean => offWords.has(word)

const offWords: ReadonlySet<PlayerWord> = new Set(["silent", "never seen", "stopped", "closed for the day"])

const word = (word: PlayerWord, since?: string) => ({ word, ...(since === undefined ? {} : { since }) })

const isError = ({ severity }: Problem): boolean => severity === "error"

const duplicateOf = ({ duplicate }: Player, now: number): Player["duplicate"] =>
  duplicate !== undefined && now - Date.parse(duplicate.heardAt) < duplicateMs ? duplicate : undefined

/**
 * A time by the clock of a player, by that of the hub: before it was heard of. Missing where it is none. The offset is that of whole
 * seconds: less is how long a report was under way, which is different each time.
 */
const hubTime = ({ clockOffset, heardAt }: Player, time: string | undefined): string | undefined => {
  const offset = Math.round(clockOffset / 1000) * 1000
  const millis = Math.min(Date.parse(time ?? "") - offset, Date.parse(heardAt))
  return Math.abs(millis) <= maxTime ? new Date(millis).toISOString() : undefined
}

/** The range of a `Date`, in milliseconds. */
const maxTime = 8.64e15

const codes = {
  behind: "player:behind",
  clock: "player:clock",
  duplicate: "player:duplicate",
  restarting: "player:restarting",
  silent: "player:silent",
  "never seen": "player:never-seen"
}

const problemsOf = (
  player: Found,
  hub: { readonly now: number; readonly startTime: string; readonly takesReports: boolean }
): ReadonlyArray<Problem> => {
  const { now, startTime } = hub
  const { id, isExpected, name, said, since, word } = player
  const problem = (kind: keyof typeof codes, severity: Problem["severity"], text: string): Problem => ({
    code: codes[kind],
    severity,
    subject: id,
    text: `Player ${name} ${text}`,
    ...(since === undefined ? {} : { since })
  })
  if (word === "closed for the day" || word === "stopped") {
    return []
  }
  if (said === undefined) {
    const report = hub.takesReports
      ? `let a replica whose node has the id ${JSON.stringify(id)} report to this machine`
      : "this machine takes no reports, let it have contentServer({ reports: { token } })"
    return since !== undefined && now - Date.parse(since) < settlingMs
      ? []
      : [problem("never seen", "error", `was never seen: ${report}`)]
  }
  const reports = said.problems.map((problem) => reported(player, said, problem))
  if (word === "silent") {
    const last =
      said.stoppedBy === undefined
        ? `was last heard of at ${since}: see whether it is on, and whether it reaches this machine`
        : `was stopped by ${said.stoppedBy} at ${since}, and has not been started since: switch it on`
    // The hub cannot have heard of it while it was off.
    const hasListened = now - Date.parse(startTime) >= silentMs
    return hasListened && (isExpected || now - Date.parse(said.heardAt) < missedMs)
      ? [problem("silent", isExpected ? "error" : "warning", last), ...reports]
      : []
  }
  const found: Array<Problem> = []
  if (duplicateOf(said, now) !== undefined) {
    const text = `is two machines: ${machinesText(said)}. Give each a node with an id of its own`
    found.push(problem("duplicate", "error", text))
  }
  if (isRestarting(said)) {
    const text = `was started again ${said.restarts} times in the last ten minutes: its log says why it ends`
    found.push(problem("restarting", isExpected ? "error" : "warning", text))
  }
  if (Math.abs(said.clockOffset) > maxClockOffset) {
    const { since: _, ...clock } = problem("clock", "warning", clockText(said))
    found.push(clock)
  }
  if (word === "behind" && since !== undefined && now - Date.parse(since) > behindMs) {
    const text = `is behind since ${since}: it has ${versionText(said)}. Its own status says why`
    found.push(problem("behind", "warning", text))
  }
  return errorsFirst([...found, ...reports])
}

const clockText = ({ clockOffset }: Player): string =>
  `has a clock that is ${durationText(Math.abs(clockOffset))} ${clockOffset > 0 ? "ahead" : "behind"}: let it use a time server`

/** A problem that a player reports, by the clock of the hub. Problems of players behind it have the path of their ids. */
const reported = ({ id, name }: Found, said: Player, { count: _, ...problem }: Problem): Problem => {
  const since = hubTime(said, problem.since)
  return {
    ...problem,
    player: problem.player === undefined ? id : `${id}/${problem.player}`,
    text: `Player ${name}: ${excerpt(problem.text)}`,
    ...(since === undefined ? {} : { since })
  }
}

const worstOf = ({ problems }: Player): Problem | undefined => problems.find(isError) ?? problems[0]

/** What it says first of what is wrong, and how much more it says; empty where it says nothing. */
const reportText = (said: Player): string => {
  const reported = worstOf(said)
  const more = said.problems.length - 1
  return reported === undefined
    ? ""
    : `${excerpt(reported.text)}${more > 0 ? ` (and ${countText(more, "more problem")})` : ""}`
}

/** In the same order, whichever of the two has reported last. */
const machinesText = (said: Player): string =>
  [said, ...(said.duplicate === undefined ? [] : [said.duplicate])]
    .map(({ address, host }) => `${host} (${address})`)
    .toSorted()
    .join(" and ")

const versionText = ({ versionId }: Player): string =>
  versionId === undefined ? "no version" : `version ${versionId}`

/**
 * What there is to say beside its word: its version, what it reports, or which machines it is, and which Vitrine it runs if that is
 * another one than here; and who has muted all that is wrong with it. Empty where there is nothing.
 */
export const detailOf = (player: PlayerStatus): string => {
  const [worst] = player.problems
  return [...saidOf(player), ...(worst?.muted === undefined ? [] : [`muted ${muteText(worst.muted)}`])]
    .filter(String.isNonEmpty)
    .join("; ")
}

const saidOf = ({ problems, said, word }: PlayerStatus): ReadonlyArray<string> =>
  said === undefined || isOff(word)
    ? word === "stopped"
      ? [`by ${said?.stoppedBy}`]
      : []
    : [
        ...(problems.some(({ code }) => code === codes.duplicate)
          ? [`two machines, ${machinesText(said)}`]
          : []),
        ...(word === "behind" ? [versionText(said)] : []),
        reportText(said),
        ...(isOfAnotherVitrine(said) ? [`Vitrine ${said.vitrine}`] : [])
      ]

const isOfAnotherVitrine = ({ vitrine }: Player): boolean => vitrine !== vitrineVersion

const rankOf = (player: PlayerStatus): number =>
  words.length * tones.indexOf(worstTone(player, "neutral")) + words.indexOf(player.word)

const byRank = Order.combine(
  Order.mapInput(Order.number, rankOf),
  Order.mapInput(Order.string, ({ name }: PlayerStatus) => name)
)

/** `38 of 40 players are up to date; 1 silent, 1 behind` */
export const summaryOf = (players: ReadonlyArray<PlayerStatus>): string => {
  if (players.length === 0) {
    return "no player has reported yet"
  }
  const good = players.filter(({ word }) => word === "up to date")
  if (players.every(({ word }) => word === "closed for the day")) {
    return `${countText(players.length, "player")} closed for the day`
  }
  const others = countsOf(players.filter(({ word }) => word !== "up to date"))
  const total = countText(players.length, "player")
  return `${good.length} of ${total} ${players.length === 1 ? "is" : "are"} up to date${others === "" ? "" : `; ${others}`}`
}

/** `1 silent, 1 behind`, from the worst. */
export const countsOf = (players: ReadonlyArray<PlayerStatus>): string =>
  words
    .map((word) => [players.filter((player) => player.word === word).length, word] as const)
    .flatMap(([count, word]) =>
      count === 0 ? [] : [`${count} ${word === "problem" ? "with a problem" : word}`]
    )
    .join(", ")

/** The name of the section: what is wrong in it is in `problems`. */
const sectionName = "players"

/** Whether there is something to look at: it has a problem, or is neither up to date nor closed for the day. */
export const isUnwell = ({ problems, word }: PlayerStatus): boolean =>
  problems.length > 0 || (word !== "up to date" && word !== "closed for the day")

/** How many are up to date, and each with something to look at. Nothing where no reports are taken. */
export const sectionsOf = (
  players: ReadonlyArray<PlayerStatus>,
  state: Pick<GlobalState, "plugins">
): ReadonlyArray<Section> => {
  const others = players.filter(({ said }) => said !== undefined && isOfAnotherVitrine(said)).length
  const versions = `${countText(others, "player")} ${others === 1 ? "runs" : "run"} another version of Vitrine than this hub, ${vitrineVersion}`
  const rows = [
    kv("All", summaryOf(players)),
    ...firstRows(players.filter(isUnwell), playerRow),
    ...(others === 0 ? [] : [text(versions, "neutral")])
  ]
  return takesReports(state) ? [{ name: sectionName, order: 31, title: "Players", rows }] : []
}

/** Whether players can report to this machine. */
export const takesReports = (state: Pick<GlobalState, "plugins">): boolean =>
  contentServersOf(state).some(([, { players }]) => players !== undefined)

const playerRow = (player: PlayerStatus): Row =>
  kv(player.name, playerText(player), worstTone(player, "neutral"))

const playerText = (player: PlayerStatus): string => {
  const { since, word } = player
  if (word === "stopped") {
    return `stopped ${detailOf(player)} at ${since}`
  }
  const when =
    since === undefined ? "" : word === "silent" ? `, last heard of at ${since}` : ` since ${since}`
  const detail = detailOf(player)
  return `${wordText(player)}${when}${detail === "" ? "" : `: ${detail}`}`
}

/** Its word, and how far it has come. */
export const wordText = ({ said, word }: PlayerStatus): string =>
  word === "copying" ? `copying ${Math.floor(said?.copiedPercent ?? 0)} %` : word

const screenOrder: ReadonlyArray<string> = screenWords

/** How many of its screens do what, the worst word first. */
export const screenCounts = ({ screens }: Player): Readonly<Record<string, number>> => {
  const counts = new Map<string, number>()
  for (const { word } of screens) {
    counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  return Object.fromEntries(
    [...counts].toSorted(([one], [other]) => screenOrder.indexOf(one) - screenOrder.indexOf(other))
  )
}
