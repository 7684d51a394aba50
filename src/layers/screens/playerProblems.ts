/**
 * The problems of a player: those that the hub finds, and those that the player reports.
 */

import { hasPassed } from "../../internal/monotonicMillis.ts"
import { excerpt } from "../../internal/printable.ts"
import { durationText } from "../../internal/readable.ts"
import type { Player } from "../../services/PlayerReport.ts"
import type { Problem } from "../../services/Problem.ts"
import type { PlayerStatus } from "../../services/View.ts"
import { machinesText, versionText } from "./playerTexts.ts"
import { maxRestarts } from "./screens.ts"

/** How long after its last report a player counts as silent, in milliseconds. */
export const silentMs = 25_000

const behindMs = 60_000

/** The largest accepted difference of the clocks, in milliseconds. */
const maxClockOffset = 60_000

/** How long an expected player may take to report after the start of the hub, in milliseconds. */
const settlingMs = 60_000

/** How long the silence of an unexpected player is a problem, in milliseconds. */
const missedMs = 10 * 60_000

interface Hub {
  /** In milliseconds since 1970. */
  readonly now: number
  /** Since when it could receive reports, in milliseconds since 1970; `undefined` if that is not known yet. */
  readonly since: number | undefined
  readonly takesReports: boolean
}

export function* problemsOf(player: Omit<PlayerStatus, "problems">, hub: Hub): Generator<Problem> {
  const { id, isExpected, lastReport, name, since, word } = player
  const lasts = (millis: number) => since === undefined || hub.now - Date.parse(since) >= millis
  const listensFor = (millis: number) => hub.since !== undefined && hub.now - hub.since >= millis
  const problem = (code: string, severity: Problem["severity"], text: string): Problem => ({
    code,
    severity,
    subject: id,
    text: `Player ${name} ${text}`,
    since
  })
  const ofExpected = isExpected ? "error" : "warning"

  if (word === "closed for the day" || word === "stopped") {
    return
  }
  if (lastReport === undefined) {
    if (listensFor(settlingMs)) {
      const report = hub.takesReports
        ? `configure the replica whose node has the id ${JSON.stringify(id)} to report to this machine`
        : "this machine accepts no reports. Configure contentServer({ reports: { token } })"
      yield problem("player:never-seen", "error", `was never seen: ${report}`)
    }
    return
  }
  if (word === "silent") {
    // Silence from before the start of the hub does not count: it was off, and could not receive reports.
    if (!listensFor(silentMs) || (!isExpected && lasts(missedMs))) {
      return
    }
    const text =
      lastReport.stoppedBy === undefined
        ? `last reported at ${since}: check that it is on and reaches this machine, and see its own status`
        : `was stopped by ${lastReport.stoppedBy} at ${since}, and has not been started since: switch it on`
    yield problem("player:silent", ofExpected, text)
  } else {
    if (lastReport.duplicate !== undefined) {
      const text = `has two machines with its id: ${machinesText(lastReport)}. Give each machine its own node id`
      yield problem("player:duplicate", "error", text)
    }
    if (isRestarting(lastReport)) {
      const text = `was started again ${lastReport.restarts} times in the last ten minutes: see the reason in its log`
      yield problem("player:restarting", ofExpected, text)
    }
    if (Math.abs(lastReport.clockOffset) > maxClockOffset) {
      const { since: _, ...clock } = problem("player:clock", "warning", clockText(lastReport))
      yield clock
    }
    if (word === "behind" && since !== undefined && hasPassed(behindMs, Date.parse(since), hub.now)) {
      const text = `has been behind since ${since}: it has ${versionText(lastReport)}. See the reason in its own status`
      yield problem("player:behind", "warning", text)
    }
  }
  yield* lastReport.problems.map((problem) => reported(id, name, lastReport, problem))
}

export const isRestarting = ({ restarts = 0 }: Player): boolean => restarts > maxRestarts

const clockText = ({ clockOffset }: Player): string =>
  `has a clock that is ${durationText(Math.abs(clockOffset))} ${clockOffset > 0 ? "ahead" : "behind"}: let it use a time server`

/**
 * A problem that a player reports, with times of the hub's clock. Problems of players behind this player have the path
 * of their ids.
 */
const reported = (
  id: string,
  name: string,
  lastReport: Player,
  { count: _, since, ...problem }: Problem
): Problem => ({
  ...problem,
  player: problem.player === undefined ? id : `${id}/${problem.player}`,
  text: `Player ${name}: ${excerpt(problem.text)}`,
  since: hubTime(lastReport, since)
})

/**
 * Converts a player's time to the hub's clock, never later than its last report; `undefined` if it is no time. The
 * offset of the clocks is rounded to seconds, because the delay of reports varies.
 */
export const hubTime = ({ clockOffset, heardAt }: Player, time: string | undefined): string | undefined => {
  const offset = Math.round(clockOffset / 1000) * 1000
  const millis = Math.min(Date.parse(time ?? "") - offset, Date.parse(heardAt))
  return Math.abs(millis) <= maxTime ? new Date(millis).toISOString() : undefined
}

/** The range of a `Date`, in milliseconds. */
const maxTime = 8.64e15
