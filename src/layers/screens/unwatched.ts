/**
 * Why nobody sees any more whether a problem of a screen or a player continues. A problem is over only if the screen or
 * player was seen without it.
 */
import type { ReportContext } from "../../services/ControllerState.ts"
import type { Player } from "../../services/PlayerReport.ts"
import type { Problem } from "../../services/Problem.ts"
import type { ScreenState } from "../../services/View.ts"
import { openAt } from "../status/openingHours.ts"
import { notJudged } from "../status/problems.ts"
import { awayCodes } from "./screens.ts"

type Unwatched = (problem: Problem) => string | undefined

/** A problem whose screen is not listed any more is `forgotten`. */
export const unwatchedScreens =
  ({ screens }: Pick<ReportContext, "screens">): Unwatched =>
  ({ code, subject }) => {
    const reasons = screens.filter(({ id }) => id === subject).map(({ word }) => reasonOf(word, code))
    return reasons.length === 0 ? "forgotten" : reasons.includes(undefined) ? undefined : reasons[0]
  }

const reasonOf = (word: ScreenState, code: string): string | undefined =>
  word === "closed for the day"
    ? "closed"
    : word === "never seen"
      ? word
      : // It has reported, so it is not unseen; nor silent, if it reported that it closes.
        code !== "screen:never-seen" && (word === "silent" || (word === "closed" && code !== "screen:silent"))
        ? word
        : undefined

/** A problem of a player that is not listed, or has been silent for so long that this is no problem, is `forgotten`. */
export const unwatchedPlayers =
  ({ now, players, state: { system } }: Omit<ReportContext, "screens">): Unwatched =>
  ({ code, player, subject }) => {
    const id = player === undefined ? subject : player.split("/", 1).join()
    const found = players.find((player) => player.id === id)
    const isClosed = () =>
      openAt(system, now)(system.players?.find((player) => player.id === id)?.hours) === undefined
    const hasReported = found?.word === "silent" || found?.word === "stopped"
    if (player === undefined && code === "player:never-seen" && hasReported) {
      return undefined
    }
    switch (found?.word) {
      case undefined:
        return "forgotten"
      case "closed for the day":
        return "closed"
      case "never seen":
      case "stopped":
        return found?.word
      case "silent":
        return found?.problems.some(({ code }) => code === "player:silent") ? "silent" : "forgotten"
      default:
        if (player === undefined) return undefined
        if (awayCodes.has(code) && isClosed()) return "closed"
        if (found?.lastReport?.moreProblems !== undefined) return "not in its report"
        return isStarting(found?.lastReport) ? notJudged : undefined
    }
  }

/** How long a player may take after its start until its reports have all of its problems, in milliseconds. */
const startingMs = 60_000

const isStarting = ({ sentAt = "", startTime = "" }: Partial<Player> = {}): boolean =>
  Date.parse(sentAt) - Date.parse(startTime) < startingMs
