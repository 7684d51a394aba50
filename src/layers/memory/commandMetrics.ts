/**
 * Commands as a metric, for whoever collects those. It counts all command buses of the process together, with the labels
 * of `Effect.tagMetrics`.
 */
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Metric from "effect/Metric"
import * as MetricLabel from "effect/MetricLabel"
import type { DispatchError } from "../../services/CommandBus.ts"

const commands = Metric.counter("vitrine_commands_total", {
  description:
    "Commands dispatched, by type and by what they came to: ok, failed, invalid, unavailable or unknown",
  incremental: true
})

/** Not `Metric.tagged`, which makes a new array each time: the metric would be looked up anew. */
const count = (labels: ReadonlyArray<MetricLabel.MetricLabel>) =>
  Effect.map(FiberRef.get(FiberRef.currentMetricLabels), (tags) =>
    commands.unsafeUpdate(1, tags.length === 0 ? labels : [...labels, ...tags])
  )

/** Counts the dispatches of a registered command. One that is interrupted has come to nothing. */
export const countCommand = (type: string) => {
  const countOutcome = (outcome: string) =>
    count([MetricLabel.make("type", type), MetricLabel.make("outcome", outcome)])
  const ok = countOutcome("ok")
  const failed = countOutcome("failed")
  const invalid = countOutcome("invalid")
  const unavailable = countOutcome("unavailable")
  const countFailure = ({ _tag }: DispatchError) => {
    switch (_tag) {
      case "vitrine/InvalidCommandFields":
        return invalid
      case "vitrine/CommandUnavailable":
        return unavailable
      default:
        return failed
    }
  }
  return <A, E extends DispatchError, R>(dispatch: Effect.Effect<A, E, R>) =>
    Effect.tapBoth(dispatch, { onSuccess: () => ok, onFailure: countFailure })
}

/** Without the type: anybody could make up any number of them. */
export const countUnknownCommand = count([MetricLabel.make("outcome", "unknown")])
