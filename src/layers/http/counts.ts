/**
 * Numbers of one server, for its status, which are added to the metrics of the process as well.
 *
 * They do not have the tags of fibers: they change with each event and request, and in callbacks of sockets, where no fiber runs.
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

/** The same each time: the metric would be looked up again for another array. */
const untagged: ReadonlyArray<never> = []
