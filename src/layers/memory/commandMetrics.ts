/**
 * Commands as a metric, for whoever collects those. It counts all command buses of the process together.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { DispatchError } from "../../services/CommandBus.ts"

const commands = Metric.counter("vitrine_commands_total", {
  description: "Commands dispatched, by type and by what they came to: ok, failed, invalid or unknown",
  incremental: true
})

/** Counts the dispatches of a registered command. One that is interrupted has come to nothing. */
export const countCommand = (type: string) => {
  const ofType = Metric.tagged(commands, "type", type)
  const countOutcome = (outcome: string) => Metric.increment(Metric.tagged(ofType, "outcome", outcome))
  const ok = countOutcome("ok")
  const failed = countOutcome("failed")
  const invalid = countOutcome("invalid")
  return <A, E extends DispatchError, R>(dispatch: Effect.Effect<A, E, R>) =>
    Effect.tapBoth(dispatch, {
      onSuccess: () => ok,
      onFailure: ({ _tag }) => (_tag === "InvalidCommandFields" ? invalid : failed)
    })
}

/** Without the type: anybody could make up any number of them. */
export const countUnknownCommand = Metric.increment(Metric.tagged(commands, "outcome", "unknown"))
