/**
 * Commands as a metric, for whoever collects those. It counts all command buses of the process together.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as MetricLabel from "effect/MetricLabel"
import type { DispatchError } from "../../services/CommandBus.ts"

const commands = Metric.counter("vitrine_commands_total", {
  description: "Commands dispatched, by type and by what they came to: ok, failed, invalid or unknown",
  incremental: true
})

/** With the same array each time, or the metric would be looked up anew. */
const count = (labels: ReadonlyArray<MetricLabel.MetricLabel>) =>
  Effect.sync(() => commands.unsafeUpdate(1, labels))

/** Counts the dispatches of a registered command. One that is interrupted has come to nothing. */
export const countCommand = (type: string) => {
  const labelled = (outcome: string) => [MetricLabel.make("type", type), MetricLabel.make("outcome", outcome)]
  const ok = labelled("ok")
  const failed = labelled("failed")
  const invalid = labelled("invalid")
  return <A, E extends DispatchError, R>(dispatch: Effect.Effect<A, E, R>) =>
    Effect.tapBoth(dispatch, {
      onSuccess: () => count(ok),
      onFailure: ({ _tag }) => count(_tag === "InvalidCommandFields" ? invalid : failed)
    })
}

/** Without the type: anybody could make up any number of them. */
const unknown = [MetricLabel.make("outcome", "unknown")]

export const countUnknownCommand = count(unknown)
