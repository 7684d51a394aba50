/**
 * Metrics of the machine and of its problems.
 */
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as MetricPair from "effect/MetricPair"
import { printableLine } from "../../internal/printable.ts"
import { vitrineVersion } from "../../internal/vitrineVersion.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { Problem } from "../../services/Problem.ts"
import { gauge } from "../status/gauge.ts"

const nodeInfo = Metric.gauge("vitrine_node_info", {
  description: "1, with the id, the label and the role of the machine, and the version of Vitrine"
})

/** Sets `vitrine_node_info` for the machine in the state. */
export const setNodeInfo = Effect.gen(function* () {
  const { system } = yield* (yield* ControllerState).state
  const labels = Object.entries({ ...system.node, version: vitrineVersion })
  yield* Metric.set(
    labels.reduce((gauge, [key, value]) => Metric.tagged(gauge, key, value), nodeInfo),
    1
  )
})

/** Excludes the fiber counts of Effect: they say nothing about an exhibit, and their names are not valid in Prometheus. */
export const isOfInterest = ({ metricKey }: MetricPair.MetricPair.Untyped): boolean =>
  !metricKey.name.startsWith("effect_fiber_")

const problemCount = gauge(
  "vitrine_problem",
  "How many problems there are now with this code, subject and severity, of this machine or a player"
)

/** A metric for each current combination of `code`, `subject`, `severity`, `player` and `muted`. `subject` may be empty. */
export const problemMetrics = (
  problems: ReadonlyArray<Problem>
): ReadonlyArray<MetricPair.MetricPair.Untyped> =>
  Object.values(Array.groupBy(problems.map(labelsOf), (labels) => JSON.stringify(labels))).map((same) =>
    problemCount(same.length, same[0])
  )

/** The longest subject, in characters: the text may come from other machines. */
const maxSubject = 128

const labelsOf = ({ code, muted, player, severity, subject = "" }: Problem) => ({
  code,
  severity,
  subject: printableLine(subject, maxSubject),
  ...(player === undefined ? {} : { player: printableLine(player, maxSubject) }),
  ...(muted === undefined ? {} : { muted: "true" })
})
