/**
 * Metrics of the machine and of what is wrong.
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

/** Sets it, for the machine that the state names. */
export const setNodeInfo = Effect.gen(function* () {
  const { system } = yield* (yield* ControllerState).state
  const labels = Object.entries({ ...system.node, version: vitrineVersion })
  yield* Metric.set(
    labels.reduce((gauge, [key, value]) => Metric.tagged(gauge, key, value), nodeInfo),
    1
  )
})

/** Effect counts its fibers: no exhibit is watched by them, and they have not the names that Prometheus wants. */
export const isOfInterest = ({ metricKey }: MetricPair.MetricPair.Untyped): boolean =>
  !metricKey.name.startsWith("effect_fiber_")

const problemCount = gauge(
  "vitrine_problem",
  "How many problems there are now with this code, subject and severity, of this machine or a player"
)

/** One for each `code`, `subject`, `severity`, `player` and `muted` that there is now. A problem without a subject has none here. */
export const problemMetrics = (
  problems: ReadonlyArray<Problem>
): ReadonlyArray<MetricPair.MetricPair.Untyped> =>
  Object.values(Array.groupBy(problems.map(labelsOf), (labels) => JSON.stringify(labels))).map((same) =>
    problemCount(same.length, same[0])
  )

/** The longest subject, in characters: others may have sent it. */
const maxSubject = 128

const labelsOf = ({ code, muted, player, severity, subject = "" }: Problem) => ({
  code,
  severity,
  subject: printableLine(subject, maxSubject),
  ...(player === undefined ? {} : { player: printableLine(player, maxSubject) }),
  ...(muted === undefined ? {} : { muted: "true" })
})
