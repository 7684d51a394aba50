/**
 * Metrics computed from the state when they are read. Effect's own metrics would keep the labels of things that no
 * longer exist.
 */
import * as MetricKey from "effect/MetricKey"
import * as MetricLabel from "effect/MetricLabel"
import * as MetricPair from "effect/MetricPair"
import * as MetricState from "effect/MetricState"

/** Makes a metric from a value and its labels. */
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
