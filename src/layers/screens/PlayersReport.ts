/**
 * The players of a hub: their section in the status, and their metrics, with the hub as one target of Prometheus for
 * all players.
 */
import type * as MetricPair from "effect/MetricPair"
import type { MakeReport } from "../../services/ControllerState.ts"
import type { PlayerStatus } from "../../services/View.ts"
import { gauge } from "../status/metrics.ts"
import { takesReports } from "../status/slices.ts"
import { isOff, playersSection, screenCounts } from "./playerTexts.ts"
import { unwatchedPlayers } from "./unwatched.ts"

const up = gauge("vitrine_player_up", "1 if it reports, 0 if it is silent, stopped or was never seen")
const info = gauge("vitrine_player_info", "1, with its name, its host and its version of Vitrine")
const lastReportAt = gauge(
  "vitrine_player_last_report_timestamp_seconds",
  "When it last reported, as Unix time"
)
const problemCount = gauge("vitrine_player_problems", "Problems that it reports, by their severity")
const free = gauge("vitrine_player_free_disk_bytes", "Free bytes on the disk of its versions")
const offset = gauge(
  "vitrine_player_clock_offset_seconds",
  "By how much its clock is ahead of the hub's clock"
)
const screenCount = gauge("vitrine_player_screens", "Its screens, by what they do")

export const report: MakeReport = (_slice, context) => ({
  sections: takesReports(context.state) ? [playersSection(context.players)] : [],
  unwatched: unwatchedPlayers(context),
  metrics: () => playerMetrics(context.players)
})

/** The metrics of each player in the state; the label `player` is its id. */
export const playerMetrics = (
  players: ReadonlyArray<PlayerStatus>
): ReadonlyArray<MetricPair.MetricPair.Untyped> => players.flatMap(metricsOf)

const metricsOf = ({ id: player, lastReport, name, word }: PlayerStatus) => {
  if (lastReport === undefined) {
    return [up(0, { player })]
  }
  const { clockOffset, freeDisk, heardAt, host, problems, vitrine } = lastReport
  return [
    up(isOff(word) ? 0 : 1, { player }),
    info(1, { player, label: name, host, version: vitrine }),
    lastReportAt(Date.parse(heardAt) / 1000, { player }),
    offset(clockOffset / 1000, { player }),
    ...(freeDisk === undefined ? [] : [free(freeDisk, { player })]),
    ...(["error", "warning"] as const).map((severity) =>
      problemCount(problems.filter((problem) => problem.severity === severity).length, { player, severity })
    ),
    ...Object.entries({ showing: 0, ...screenCounts(lastReport) }).map(([word, count]) =>
      screenCount(count, { player, word })
    )
  ]
}
