import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import { prometheusText } from "../../../src/layers/dashboard/metrics.ts"

/** The text of what is there of these names. */
const textOf = (prefix: string) =>
  Effect.map(Metric.snapshot, (pairs) =>
    prometheusText(pairs.filter(({ metricKey }) => metricKey.name.startsWith(prefix)))
  )

/** By the grammar of the format: names, labels with their escapes, and a number. */
const line =
  /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (NaN|[+-]Inf|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/

describe("metrics as text", () => {
  it.effect("have no label for their unit, which is in their name", () =>
    Effect.gen(function* () {
      yield* Metric.update(Metric.tagged(Metric.gauge("test_unit_seconds"), "unit", "s"), 1)
      expect(yield* textOf("test_unit")).toBe("# TYPE test_unit_seconds gauge\ntest_unit_seconds 1\n")
    })
  )

  it.effect("have their types, without histograms and summaries", () =>
    Effect.gen(function* () {
      const prefix = "test_types"
      yield* Metric.incrementBy(
        Metric.counter(`${prefix}_a_total`, { description: "What\ncomes \\ goes", incremental: true }),
        3
      )
      yield* Metric.incrementBy(Metric.counter(`${prefix}_b`), -2)
      yield* Metric.set(Metric.gauge(`${prefix}_c`, { bigint: true }), 12345678901234567890n)
      const histogram = Metric.histogram(`${prefix}_d`, MetricBoundaries.fromIterable([0.5, 1]))
      yield* Metric.update(histogram, 0.7)
      yield* Metric.update(Metric.frequency(`${prefix}_e`), 'a "b"')
      const summary = Metric.summary({
        name: `${prefix}_f`,
        maxAge: "1 minute",
        maxSize: 10,
        error: 0,
        quantiles: [0.5]
      })
      yield* Metric.update(summary, 4)
      expect((yield* textOf(prefix)).split("\n")).toEqual([
        `# HELP ${prefix}_a_total What\\ncomes \\\\ goes`,
        `# TYPE ${prefix}_a_total counter`,
        `${prefix}_a_total 3`,
        `# TYPE ${prefix}_b gauge`,
        `${prefix}_b -2`,
        `# TYPE ${prefix}_c gauge`,
        `${prefix}_c 12345678901234567890`,
        `# TYPE ${prefix}_e counter`,
        `${prefix}_e{value="a \\"b\\""} 1`,
        ""
      ])
    })
  )

  it.effect("have one type for each name, and a comment about what is left out", () =>
    Effect.gen(function* () {
      yield* Metric.increment(Metric.counter("test clash", { incremental: true }))
      yield* Metric.set(Metric.gauge("test clash"), 1)
      const lines = (yield* textOf("test clash")).trim().split("\n")
      expect(lines.filter((line) => line.startsWith("# TYPE"))).toHaveLength(1)
      expect(lines).toContainEqual(
        expect.stringMatching(/^# test_clash is also a (gauge|counter), which is left out$/)
      )
      expect(lines).toHaveLength(3)
    })
  )

  it.effect("write NaN and infinity as Prometheus does", () =>
    Effect.gen(function* () {
      for (const [name, value] of Object.entries({ a: Number.NaN, b: Infinity, c: -Infinity, d: 1e21 })) {
        yield* Metric.set(Metric.gauge(`test_numbers_${name}`), value)
      }
      const values = (yield* textOf("test_numbers")).match(/(?<= )\S+$/gm)
      expect(values?.filter((value) => value !== "gauge")).toEqual(["NaN", "+Inf", "-Inf", "1e+21"])
    })
  )

  it.effect.prop(
    "follow the grammar for any names, labels and descriptions",
    [
      FastCheck.record({
        name: FastCheck.string({ unit: "binary" }),
        description: FastCheck.string({ unit: "binary" }),
        labels: FastCheck.dictionary(
          FastCheck.string({ unit: "binary" }),
          FastCheck.string({ unit: "binary" })
        ),
        value: FastCheck.double()
      })
    ],
    ([{ description, labels, name, value }]) =>
      Effect.gen(function* () {
        const gauge = Object.entries(labels).reduce(
          (gauge, [label, value]) => Metric.tagged(gauge, label, value),
          Metric.gauge(`fuzz ${name}`, { description })
        )
        yield* Metric.set(gauge, value)
        const pairs = (yield* Metric.snapshot).filter(({ metricKey }) => metricKey.name === `fuzz ${name}`)
        const lines = prometheusText(pairs).split("\n").slice(0, -1)
        expect(lines.length).toBeGreaterThanOrEqual(2)
        for (const text of lines.filter((line) => !line.startsWith("# "))) {
          expect(text).toMatch(line)
        }
      })
  )
})
