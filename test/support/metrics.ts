/**
 * Effect's metrics, as a collector would read them.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"

/** The value of a counter or a gauge, by labels: `a=1,b=2`. */
export const countsOf = (name: string): Effect.Effect<Readonly<Record<string, number>>> =>
  Effect.map(Metric.snapshot, (pairs) =>
    Object.fromEntries(
      pairs
        .filter(({ metricKey }) => metricKey.name === name)
        .map(({ metricKey, metricState }) => [
          metricKey.tags
            .map(({ key, value }) => `${key}=${value}`)
            .sort()
            .join(),
          Option.getOrThrow(numberIn(metricState))
        ])
    )
  )

/** What has been counted between two readings of `countsOf`; what was not is left out. */
export const since = (now: Readonly<Record<string, number>>, then: Readonly<Record<string, number>>) =>
  Object.fromEntries(
    Object.entries(now)
      .map(([labels, count]) => [labels, count - (then[labels] ?? 0)] as const)
      .filter(([, count]) => count !== 0)
  )

const numberIn = (state: unknown): Option.Option<number> =>
  Option.fromNullable(
    ["count", "value"].flatMap((key) => (Predicate.hasProperty(state, key) ? [state[key]] : []))[0]
  ).pipe(Option.map(Number))
