/**
 * The players of a hub: the state of each as one of a fixed list, and its problems.
 */
import * as Order from "effect/Order"
import type { Player } from "../../services/PlayerReport.ts"
import type { ContentState } from "../../services/Slices.ts"
import type { GlobalState } from "../../services/StatusSnapshot.ts"
import { playerStates } from "../../services/screenStates.ts"
import type { PlayerState, PlayerStatus } from "../../services/View.ts"
import { openAt } from "../status/openingHours.ts"
import { withMutes } from "../status/problems.ts"
import { tones, worstTone } from "../status/rows.ts"
import { contentServersOf, contentsOf } from "../status/slices.ts"
import { codes } from "../status/view.ts"
import { hubTime, isRestarting, problemsOf, silentMs } from "./playerProblems.ts"
import { isOff } from "./playerTexts.ts"
import { awayCodes, isAwayState } from "./screens.ts"

type State = Pick<GlobalState, "plugins" | "system">

/** How long a content server may take to start on a slow disk, in milliseconds. */
const startingMs = 10 * 60_000

/**
 * The worst first. `knownSince` is when the players of a content server were first read: without a content server, which
 * may still be starting, no player is missed for ten minutes after the start of the controller.
 */
export const playersOf = (
  state: State,
  now: number,
  knownSince: (server: string) => number | undefined = () => Date.parse(state.system.startTime),
  startedAt = Date.parse(state.system.startTime)
): ReadonlyArray<PlayerStatus> => {
  const { players = [], startTime } = state.system
  const expected = new Map(players.map((player) => [player.id, player]))
  const openSince = openAt(state.system, now)
  const mark = withMutes(state, now)
  const servers = contentServersOf(state)
  const receiver = servers.find(([, { players }]) => players !== undefined)
  const [server] = receiver ?? servers[0] ?? []
  const since = server === undefined ? startedAt + startingMs : knownSince(server)
  const hub = { now, since, takesReports: receiver !== undefined }
  const judge = (id: string, reported: Reported | undefined): PlayerStatus => {
    const { hours, label } = expected.get(id) ?? {}
    const since = openSince(hours)
    const lastReport =
      since === undefined && reported !== undefined ? withoutAway(reported.lastReport) : reported?.lastReport
    const found =
      lastReport === undefined
        ? inState("never seen", startTime)
        : stateOf(lastReport, reported?.content, now, since)
    const player = {
      id,
      name: label ?? lastReport?.node.label ?? id,
      isExpected: expected.has(id),
      ...found,
      word: since === undefined && isOff(found.word) ? ("closed for the day" as const) : found.word,
      lastReport
    }
    return { ...player, problems: mark([...problemsOf(player, hub)]) }
  }
  const reports = reportsOf(state)
  return [...new Set([...reports.keys(), ...expected.keys()])]
    .map((id) => judge(id, reports.get(id)))
    .toSorted(byRank)
}

const rankOf = (player: PlayerStatus): number =>
  playerStates.length * tones.indexOf(worstTone(player, "neutral")) + playerStates.indexOf(player.word)

const byRank = Order.combine(
  Order.mapInput(Order.number, rankOf),
  Order.mapInput(Order.string, ({ name }: PlayerStatus) => name)
)

interface Reported {
  readonly lastReport: Player
  /** The same content on the hub; missing if the hub has none. */
  readonly content: ContentState | undefined
}

/** By the ids of the players. */
const reportsOf = (state: State): ReadonlyMap<string, Reported> => {
  const contents = new Map(contentsOf(state))
  return new Map(
    contentServersOf(state).flatMap(([name, { players = [] }]) =>
      players.map(
        (lastReport) =>
          [lastReport.node.id, { lastReport, content: contents.get(name.replace(/-server$/, "")) }] as const
      )
    )
  )
}

/** The report of a player while its place is closed: a screen that is off is no problem. */
const withoutAway = (lastReport: Player): Player => ({
  ...lastReport,
  problems: lastReport.problems.filter(({ code }) => !awayCodes.has(code)),
  screens: lastReport.screens.map((screen) =>
    isAwayState(screen.word) ? { ...screen, word: "closed for the day" } : screen
  )
})

/** How long a player may be stopped if no opening hours are known, in milliseconds. */
const stoppedMs = 86_400_000

/** `openSince` is when its place opened; missing if the place is closed. */
const stateOf = (
  lastReport: Player,
  { activeSince = "", versionId }: Partial<ContentState> = {},
  now: number,
  openSince = now
) => {
  const { copiedPercent, duplicate, heardAt, problems, stoppedBy } = lastReport
  const at = Date.parse(heardAt)
  if (stoppedBy !== undefined) {
    return inState(at >= openSince && now - at < stoppedMs ? "stopped" : "silent", heardAt)
  }
  if (now - at >= silentMs) {
    return inState("silent", heardAt)
  }
  if (duplicate !== undefined || isRestarting(lastReport)) {
    return inState("problem")
  }
  const worst =
    problems.find(({ severity }) => severity === "error") ??
    problems.find(({ code }) => code === "content:failing")
  if (worst !== undefined) {
    return inState("problem", hubTime(lastReport, worst.since))
  }
  const held = problems.find(({ code }) => code === codes.held)
  if (held !== undefined) {
    return inState("held", hubTime(lastReport, held.since))
  }
  if (copiedPercent !== undefined) {
    return inState("copying")
  }
  const shownSince = hubTime(lastReport, lastReport.activeSince)
  const behindSince = shownSince !== undefined && shownSince > activeSince ? shownSince : activeSince
  return versionId !== undefined && lastReport.versionId !== versionId
    ? inState("behind", behindSince)
    : inState("up to date", shownSince)
}

const inState = (word: PlayerState, since?: string) => ({ word, since })
