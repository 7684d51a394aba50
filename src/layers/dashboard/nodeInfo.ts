/**
 * Which machine the metrics are of.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { vitrineVersion } from "../../internal/vitrineVersion.ts"
import { ControllerState } from "../../services/ControllerState.ts"

const info = Metric.gauge("vitrine_node_info", {
  description: "1, with the id, the label and the role of the machine, and the version of Vitrine"
})

/** Sets it, for the machine that the state names. */
export const setNodeInfo = Effect.gen(function* () {
  const { state } = yield* ControllerState
  const { node } = (yield* state).system
  const labels = Object.entries({ ...node, version: vitrineVersion })
  yield* Metric.set(
    labels.reduce((gauge, [key, value]) => Metric.tagged(gauge, key, value), info),
    1
  )
})
