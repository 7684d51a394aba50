/**
 * Metrics beside those of Effect: values that are computed from the state when they are read, and counts of one server.
 */

import type * as Metric from "effect/Metric"
import * as MetricKey from "effect/MetricKey"
import type { MetricKeyType } from "effect/MetricKeyType"
import * as MetricLabel from "effect/MetricLabel"
import * as MetricPair from "effect/MetricPair"
import * as MetricState from "effect/MetricState"

/** Makes a metric from a value and its labels. One of Effect would keep the labels of things that no longer exist. */
export type Gauge = (
  value: number,
  labels?: Readonly<Record<string, string>>
) => MetricPair.MetricPair.Untyped

export const gauge =
  (name: string, description: string): Gauge =>
  (value, labels = {}) =>
    MetricPair.unsafeMake(
      MetricKey.taggedWithLabels(
        MetricKey.gauge(name, { description }),
        Object.entries(labels).map(([name, value]) => MetricLabel.make(name, value))
      ),
      MetricState.gauge(value)
    )

/**
 * A count of one server, for its status. It is added to the metrics of the process, without the tags of fibers: it changes
 * in callbacks of sockets, where no fiber runs.
 */
export interface Count {
  readonly add: (count: number) => void
  readonly total: () => number
}

export const makeCount = <Type extends MetricKeyType.Untyped, Out>(
  metric: Metric.Metric<Type, number, Out>,
  tags: ReadonlyArray<MetricLabel.MetricLabel> = untagged
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
