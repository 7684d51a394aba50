/**
 * Effect's metrics, as a collector would read them.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"

/** The value of a counter or a gauge, or how often a histogram was told something, by labels: `a=1,b=2`. */
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

const numberIn = (state: unknown): Option.Option<number> =>
  Option.fromNullable(
    ["count", "value"].flatMap((key) => (Predicate.hasProperty(state, key) ? [state[key]] : []))[0]
  ).pipe(Option.map(Number))
