/**
 * Metrics of the machine and of its problems, and Effect's metrics in the text format of Prometheus, version 0.0.4. The exporter of
 * OpenTelemetry would need its own server and four more packages.
 */
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as MetricKeyType from "effect/MetricKeyType"
import type * as MetricPair from "effect/MetricPair"
import * as MetricState from "effect/MetricState"
import * as Option from "effect/Option"
import { vitrineVersion } from "../../internal/machine.ts"
import { printableLine } from "../../internal/printable.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { Problem } from "../../services/Problem.ts"
import { gauge } from "../status/metrics.ts"

const nodeInfo = Metric.gauge("vitrine_node_info", {
  description: "1, with the id, the label and the role of the machine, and the version of Vitrine"
})

/** Sets `vitrine_node_info` for the machine in the state. */
export const setNodeInfo = Effect.gen(function* () {
  const { system } = yield* (yield* ControllerState).state
  const labels = Object.entries({ ...system.node, version: vitrineVersion })
  yield* Metric.set(
    labels.reduce((gauge, [key, value = ""]) => Metric.tagged(gauge, key, value), nodeInfo),
    1
  )
})

/** Excludes the fiber counts of Effect: they say nothing about an exhibit, and their names are not valid in Prometheus. */
export const isOfInterest = ({ metricKey }: MetricPair.MetricPair.Untyped): boolean =>
  !metricKey.name.startsWith("effect_fiber_")

const problemLevel = gauge(
  "vitrine_problem",
  "A problem of this machine or a player: 2 for an error, 1 for a warning, 0 if nobody watches it any more"
)

const levelOf = ({ severity, unwatched }: Problem): number =>
  unwatched !== undefined ? 0 : severity === "error" ? 2 : 1

/** A metric for each `code`, `subject` (which may be empty), `player` and `muted`. Of problems with equal labels, the worst counts. */
export const problemMetrics = (
  problems: ReadonlyArray<Problem>
): ReadonlyArray<MetricPair.MetricPair.Untyped> =>
  Object.values(Array.groupBy(problems, (problem) => JSON.stringify(problemLabels(problem)))).map((same) =>
    problemLevel(Math.max(...same.map(levelOf)), problemLabels(same[0]))
  )

/** The longest subject, in characters: the text may come from other machines. */
const maxSubject = 128

const problemLabels = ({ code, muted, player, subject = "" }: Problem) => ({
  code,
  subject: printableLine(subject, maxSubject),
  ...(player === undefined ? {} : { player: printableLine(player, maxSubject) }),
  ...(muted === undefined ? {} : { muted: "true" })
})

export const contentType = "text/plain; version=0.0.4; charset=utf-8"

type Pair = MetricPair.MetricPair.Untyped

/**
 * All counters and gauges by name, without histograms and summaries. A frequency becomes a counter by `value`. Names and labels
 * have only characters that Prometheus allows. If metrics with the same name differ in type, only the type of the first is
 * written, and a comment says so.
 */
export const prometheusText = (pairs: ReadonlyArray<Pair>): string =>
  Object.entries(
    Array.groupBy(pairs.filter(isOneNumber), ({ metricKey }) =>
      allowed(metricKey.name.replace(/[^\w:]/g, "_"))
    )
  )
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([name, family]) => familyLines(name, family))
    .map((line) => `${line}\n`)
    .join("")

const isOneNumber = ({ metricState }: Pair): boolean =>
  !MetricState.isHistogramState(metricState) && !MetricState.isSummaryState(metricState)

const familyLines = (name: string, family: Array.NonEmptyReadonlyArray<Pair>): ReadonlyArray<string> => {
  const type = typeOf(family[0])
  const omitted = new Set(family.map(typeOf))
  omitted.delete(type)
  const help = Option.getOrElse(family[0].metricKey.description, () => "")
  return [
    ...(help === "" ? [] : [`# HELP ${name} ${help.replace(/\\/g, "\\\\").replace(/\n/g, "\\n")}`]),
    `# TYPE ${name} ${type}`,
    ...[...omitted].map((other) => `# ${name} is also a ${other}, which is left out`),
    ...family
      .filter((pair) => typeOf(pair) === type)
      .flatMap((pair) => samples(name, labelsOf(pair), pair.metricState))
  ]
}

/** Adds an underscore before a leading digit. */
const allowed = (name: string): string => name.replace(/^(?=\d|$)/, "_")

/** Tags that OpenTelemetry uses for the unit of a metric. In Prometheus the unit is part of the name. */
const unitTags: ReadonlyArray<string> = ["unit", "time_unit"]

type Labels = ReadonlyArray<readonly [name: string, value: string]>

const labelsOf = ({ metricKey: { tags } }: Pair): Labels => [
  ...new Map(
    tags
      .filter(({ key }) => !unitTags.includes(key))
      .map(({ key, value }) => [allowed(key.replace(/\W/g, "_")), value])
  )
]

/** A metric that can decrease is a gauge. */
const typeOf = ({ metricKey: { keyType }, metricState }: Pair) =>
  MetricState.isFrequencyState(metricState) || (MetricKeyType.isCounterKey(keyType) && keyType.incremental)
    ? "counter"
    : "gauge"

const samples = (
  name: string,
  labels: Labels,
  state: MetricState.MetricState.Untyped
): ReadonlyArray<string> => {
  if (MetricState.isFrequencyState(state)) {
    return [...state.occurrences].map(([value, count]) => sample(name, [...labels, ["value", value]], count))
  }
  return MetricState.isCounterState(state)
    ? [sample(name, labels, state.count)]
    : MetricState.isGaugeState(state)
      ? [sample(name, labels, state.value)]
      : []
}

const sample = (name: string, labels: Labels, value: number | bigint): string => {
  const text = labels.map(([label, value]) => `${label}="${escaped(value)}"`).join(",")
  return `${name}${text === "" ? "" : `{${text}}`} ${number(value)}`
}

const escaped = (value: string): string =>
  value.replace(/\\/g, "\\\\").replace(/\n/g, "\\n").replace(/"/g, '\\"')

const number = (value: number | bigint): string =>
  value === Number.POSITIVE_INFINITY ? "+Inf" : value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value)
