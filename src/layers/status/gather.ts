/**
 * What all plugins say, put together: the sections of the status in their order, and the problems, errors first.
 */
import * as Predicate from "effect/Predicate"
import * as String from "effect/String"
import type { ControllerReading, PluginReading } from "../../services/ControllerState.ts"
import type { Problem } from "../../services/Problem.ts"
import type { GlobalState, Section } from "../../services/StatusSnapshot.ts"
import { errorsFirst, problemRow, problemsOfRows } from "./rows.ts"
import { reported } from "./slices.ts"

export interface Gathered extends Pick<ControllerReading, "logs" | "metrics" | "sections"> {
  /** Errors first. */
  readonly problems: ReadonlyArray<Problem>
}

const defaultOrder = 50

/**
 * Combines the state, the readings of its plugins and the added sections. Problems that are reported in a slice come first in the added
 * section of its name, or have their own section. Added sections count by the tones of their rows, but for those of plugins that have a
 * reading, or report `problems`.
 */
export const gather = (
  { plugins }: Pick<GlobalState, "plugins">,
  readings: ReadonlyArray<readonly [plugin: string, reading: PluginReading]>,
  added: ReadonlyArray<Section>
): Gathered => {
  const all = readings.map(([, reading]) => reading)
  const toned = added.filter(
    ({ name }) =>
      !readings.some(([plugin]) => plugin === name) && !Predicate.hasProperty(plugins[name], "problems")
  )
  const problems = [
    ...all.flatMap(({ problems = [] }) => problems),
    ...Object.values(plugins).flatMap(reported),
    ...toned.flatMap(problemsOfRows)
  ]
  const sections = [...all.flatMap(({ sections = [] }) => sections), ...withReported(plugins, added)]
  return {
    sections: sections.toSorted((one, other) => (one.order ?? defaultOrder) - (other.order ?? defaultOrder)),
    problems: errorsFirst(problems),
    metrics: () => all.flatMap(({ metrics }) => metrics?.() ?? []),
    logs: new Set(all.flatMap(({ logs = [] }) => logs))
  }
}

const withReported = (
  plugins: GlobalState["plugins"],
  added: ReadonlyArray<Section>
): ReadonlyArray<Section> => {
  const rowsOfProblems = new Map(
    Object.entries(plugins).flatMap(([name, slice]) => {
      const rows = reported(slice).map(problemRow)
      return rows.length === 0 ? [] : [[name, rows] as const]
    })
  )
  const own = added.map((section) => {
    const problems = rowsOfProblems.get(section.name) ?? []
    rowsOfProblems.delete(section.name)
    return { ...section, rows: [...problems, ...section.rows] }
  })
  return [
    ...own,
    ...[...rowsOfProblems].map(([name, rows]) => ({ name, title: String.capitalize(name), rows }))
  ]
}
