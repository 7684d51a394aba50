/**
 * The outcome as Markdown.
 */
import { readFileSync } from "node:fs"
import { cpus, release, totalmem, type } from "node:os"
import type { Part, Scenario, Target } from "./scenario.ts"

/** The median of a figure over the runs of a variant. */
export type Medians = (label: string, figure: string) => number

export interface Measured {
  readonly scenario: Scenario
  readonly medians: Medians
}

export interface MeasuredPart {
  readonly part: Part
  readonly scenarios: ReadonlyArray<Measured>
}

export const text = (parts: ReadonlyArray<MeasuredPart>, runs: number): string =>
  ["# Benchmark", conditions(parts, runs), ...parts.map(partText)].join("\n\n")

const partText = ({ part: { method, title }, scenarios }: MeasuredPart): string =>
  [
    `## ${title}`,
    method,
    "### Targets",
    table(
      ["Scenario", "Figure", "Measured", "Target", "Met"],
      scenarios.flatMap(({ medians, scenario }) =>
        scenario.targets.map((target) => targetRow(scenario, medians, target))
      )
    ),
    ...scenarios.map(scenarioText)
  ].join("\n\n")

const targetRow = (scenario: Scenario, medians: Medians, target: Target): ReadonlyArray<string> => {
  const row = scenario.rows.find(({ figure }) => figure === target.figure)
  const value = medians(target.variant, target.figure)
  const judged = target.of === undefined ? value : value / medians(target.of, target.figure)
  const format = target.of === undefined ? (row?.format ?? String) : (ratio: number) => ratio.toFixed(2)
  const relation = target.of === undefined ? "" : ` of ${target.of}`
  const { atLeast, atMost } = target
  return [
    scenario.name,
    `${row?.title ?? target.figure}, ${target.variant}${relation}`,
    format(judged),
    atMost !== undefined
      ? `at most ${format(atMost)}`
      : atLeast !== undefined
        ? `at least ${format(atLeast)}`
        : "reported",
    atMost === undefined && atLeast === undefined
      ? ""
      : judged <= (atMost ?? Number.POSITIVE_INFINITY) && judged >= (atLeast ?? Number.NEGATIVE_INFINITY)
        ? "yes"
        : "NO"
  ]
}

const scenarioText = ({ medians, scenario: { name, note, rows, variants } }: Measured): string =>
  [
    `### ${name}`,
    note,
    table(
      ["", ...variants.map(({ label }) => label)],
      rows.map(({ figure, format, title }) => [
        title,
        ...variants.map(({ label }) => {
          const value = medians(label, figure)
          return Number.isNaN(value) ? "" : format(value)
        })
      ])
    )
  ].join("\n\n")

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((row) => row[column]?.length ?? 0))
  )
  const line = (cells: ReadonlyArray<string>) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n")
}

const conditions = (parts: ReadonlyArray<MeasuredPart>, runs: number): string => {
  const [processor] = cpus()
  const machine = `${cpus().length} × ${processor?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}`
  const packages = new Set(parts.flatMap(({ part }) => part.packages))
  const versions = [...packages].map((name) => `${name} ${versionOf(name)}`)
  return [
    `Machine: ${machine}. Node ${process.versions.node}, ${versions.join(", ")}.`,
    runs === 1
      ? "One run each: a trial, no result."
      : `Each figure is the median of ${runs} runs where nothing else is said, the peers taking turns.`
  ].join("\n\n")
}

const versionOf = (name: string): string =>
  JSON.parse(readFileSync(new URL(`../../node_modules/${name}/package.json`, import.meta.url), "utf8"))
    .version
