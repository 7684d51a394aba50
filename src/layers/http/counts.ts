/**
 * Numbers of one server, for its status, which are added to the metrics as well: those are of all servers of the process together.
 *
 * They have no tags of fibers: they change for each event and request, and in callbacks of sockets, where no fiber runs.
 */
import type * as Metric from "effect/Metric"
import type { MetricKeyType } from "effect/MetricKeyType"

export interface Count {
  readonly add: (count: number) => void
  readonly total: () => number
}

export const untagged: ReadonlyArray<never> = []

export const makeCount = <Type extends MetricKeyType.Untyped, Out>(
  metric: Metric.Metric<Type, number, Out>
): Count => {
  let total = 0
  return {
    add: (count) => {
      total += count
      metric.unsafeModify(count, untagged)
    },
    total: () => total
  }
}
