/**
 * The outcome as Markdown.
 */
import { readFileSync } from "node:fs"
import { cpus, release, totalmem, type } from "node:os"
import type { Scenario, Target } from "./scenarios.ts"

/** The median of a figure over the runs of a variant. */
export type Medians = (label: string, figure: string) => number

export interface Measured {
  readonly scenario: Scenario
  readonly medians: Medians
}

export const text = (measured: ReadonlyArray<Measured>, runs: number): string =>
  [
    "# Transport benchmark",
    method(runs),
    "## Targets",
    table(
      ["Scenario", "Figure", "Measured", "Target", "Met"],
      measured.flatMap(({ medians, scenario }) =>
        scenario.targets.map((target) => targetRow(scenario, medians, target))
      )
    ),
    ...measured.map(scenarioText)
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
    `${row?.title ?? target.figure}${target.of === undefined ? "" : `, ${target.variant}${relation}`}`,
    format(judged),
    atMost !== undefined
      ? `at most ${format(atMost)}`
      : atLeast !== undefined
        ? `at least ${format(atLeast)}`
        : "reported",
    atMost === undefined && atLeast === undefined
      ? ""
      : judged <= (atMost ?? Number.POSITIVE_INFINITY) && judged >= (atLeast ?? 0)
        ? "yes"
        : "NO"
  ]
}

const scenarioText = ({ medians, scenario: { name, note, rows, tried = [], variants } }: Measured): string =>
  [
    `## ${name}`,
    note,
    table(
      ["", ...variants.map(({ label }) => label)],
      rows.map(({ figure, format, title }) => [
        title,
        ...variants.map(({ label }) => format(medians(label, figure)))
      ])
    ),
    ...(tried.length === 0 ? [] : [`What was tried:\n\n${tried.map((line) => `- ${line}`).join("\n")}`])
  ].join("\n\n")

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((row) => row[column]?.length ?? 0))
  )
  const line = (cells: ReadonlyArray<string>) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n")
}

const method = (runs: number): string => {
  const [processor] = cpus()
  const machine = `${cpus().length} × ${processor?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}`
  const versions = ["effect", "@effect/platform", "@effect/platform-node", "better-sse"].map(
    (name) => `${name} ${versionOf(name)}`
  )
  return [
    `Machine: ${machine}. Node ${process.versions.node}, ${versions.join(", ")}.`,
    `Method: each server and the load generator are processes of their own, started anew for each run, on loopback. ${
      runs === 1
        ? "One run each: a trial, no result."
        : `Each figure is the median of ${runs} runs, the peers taking turns.`
    } CPU is the user and system time of the server's process. Every delivery is counted by a mark in its bytes and carries the time of its publication. The generator looks for these marks only; where its processor is in use for less than all of the time, it is not what limits the server.`
  ].join("\n\n")
}

const versionOf = (name: string): string =>
  JSON.parse(readFileSync(new URL(`../../node_modules/${name}/package.json`, import.meta.url), "utf8"))
    .version
