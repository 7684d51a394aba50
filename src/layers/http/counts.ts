/**
 * Counts of one server, for its status. They are added to the metrics of the process, too.
 *
 * They lack the tags of fibers: they change in callbacks of sockets, where no fiber runs.
 */
import type * as Metric from "effect/Metric"
import type { MetricKeyType } from "effect/MetricKeyType"
import type { MetricLabel } from "effect/MetricLabel"

export interface Count {
  readonly add: (count: number) => void
  readonly total: () => number
}

export const makeCount = <Type extends MetricKeyType.Untyped, Out>(
  metric: Metric.Metric<Type, number, Out>,
  tags: ReadonlyArray<MetricLabel> = untagged
): Count => {
  let total = 0
  return {
    add: (count) => {
      total += count
      metric.unsafeModify(count, tags)
    },
    total: () => total
  }
}

/** One array for all calls: a new array would make the library look up the metric again. */
const untagged: ReadonlyArray<never> = []
