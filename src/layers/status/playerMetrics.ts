/**
 * What a hub knows of its players, as metrics: one target of Prometheus for all of them.
 *
 * They are made of the state whenever they are read. Effect's own metrics would keep the labels of each player that has ever reported.
 */
import * as MetricKey from "effect/MetricKey"
import * as MetricPair from "effect/MetricPair"
import * as MetricState from "effect/MetricState"
import { isOff, type PlayerStatus, screenCounts } from "./players.ts"

const gauge = (name: string, description: string) => MetricKey.gauge(name, { description })

const gauges = {
  up: gauge("vitrine_player_up", "1 where it reports, 0 where it is silent, stopped or was never seen"),
  info: gauge("vitrine_player_info", "1, with what it is called, its host, and its version of Vitrine"),
  heard: gauge("vitrine_player_last_report_timestamp_seconds", "When it last reported, as Unix time"),
  problems: gauge("vitrine_player_problems", "Problems that it reports, by their severity"),
  freeDisk: gauge("vitrine_player_free_disk_bytes", "Bytes that are free where its versions are"),
  clockOffset: gauge(
    "vitrine_player_clock_offset_seconds",
    "By how much its clock is ahead of that of the hub"
  ),
  screens: gauge("vitrine_player_screens", "Its screens, by the word for what they do")
}

/** The metrics of each player in the state; `player` is its id. */
export const playerMetrics = (
  players: ReadonlyArray<PlayerStatus>
): ReadonlyArray<MetricPair.MetricPair.Untyped> => players.flatMap(metricsOf)

const metricsOf = ({ id, name, said, word }: PlayerStatus): ReadonlyArray<MetricPair.MetricPair.Untyped> => {
  const metric = (key: (typeof gauges)[keyof typeof gauges], value: number, labels: Labels = {}) =>
    MetricPair.unsafeMake(
      Object.entries({ player: id, ...labels }).reduce(
        (key, [label, value]) => MetricKey.tagged(key, label, value),
        key
      ),
      MetricState.gauge(value)
    )
  if (said === undefined) {
    return [metric(gauges.up, 0)]
  }
  const { clockOffset, freeDisk, heardAt, host, problems, vitrine } = said
  return [
    metric(gauges.up, isOff(word) ? 0 : 1),
    metric(gauges.info, 1, { label: name, host, version: vitrine }),
    metric(gauges.heard, Date.parse(heardAt) / 1000),
    metric(gauges.clockOffset, clockOffset / 1000),
    ...(freeDisk === undefined ? [] : [metric(gauges.freeDisk, freeDisk)]),
    ...(["error", "warning"] as const).map((severity) =>
      metric(gauges.problems, problems.filter((problem) => problem.severity === severity).length, {
        severity
      })
    ),
    ...Object.entries({ showing: 0, ...screenCounts(said) }).map(([word, count]) =>
      metric(gauges.screens, count, { word })
    )
  ]
}

type Labels = Readonly<Record<string, string>>
