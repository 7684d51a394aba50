/**
 * What all plugins say, put together: the sections of the status in their order, and the problems, errors first.
 */
import * as Array from "effect/Array"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as String from "effect/String"
import type { ControllerReading, PluginReading } from "../../services/ControllerState.ts"
import type { Problem } from "../../services/Problem.ts"
import type { GlobalState, Row, Section } from "../../services/StatusSnapshot.ts"
import { withMutes } from "./mutedProblems.ts"
import { problemRow, problemsOfRows, quietRows } from "./rows.ts"
import { reported } from "./slices.ts"

export interface Gathered extends Pick<ControllerReading, "logs" | "metrics" | "sections"> {
  /** From the most important: errors first, and behind all others those of players that nobody expects, which may be made up. */
  readonly problems: ReadonlyArray<Problem>
}

const defaultOrder = 50

/**
 * Combines the state, the readings of its plugins and the added sections. Problems that are reported in a slice come first in the added
 * section of its name, or have their own section. Added sections count by the tones of their rows, but for those of plugins that have a
 * reading, or report `problems`. What is muted at this time, in milliseconds since 1970, is marked, and neutral.
 */
export const gather = (
  { plugins, system }: Pick<GlobalState, "plugins" | "system">,
  readings: ReadonlyArray<readonly [plugin: string, reading: PluginReading]>,
  added: ReadonlyArray<Section>,
  now: number
): Gathered => {
  const mark = withMutes({ plugins }, now)
  const all = readings.map(([, reading]) => reading)
  const isToned = ({ name }: Section) =>
    !readings.some(([plugin]) => plugin === name) && !Predicate.hasProperty(plugins[name], "problems")
  const problems = [
    ...all.flatMap(({ problems = [] }) => problems),
    ...Object.values(plugins).flatMap(reported),
    ...added.filter(isToned).flatMap(problemsOfRows)
  ]
  const expected = new Set((system.players ?? []).map(({ id }) => id))
  const [others, known] = Array.partition(
    problems,
    ({ player }) => player === undefined || expected.has(player.split("/", 1).join())
  )
  const isMuted = (problem: Problem) => mark([problem]).some(({ muted }) => muted !== undefined)
  const quiet = added.map((section) => (isToned(section) ? quietRows(section, isMuted) : section))
  const sections = [
    ...all.flatMap(({ sections = [] }) => sections),
    ...withReported(
      quiet,
      Record.map(plugins, (slice) => mark(reported(slice)).map(problemRow))
    )
  ]
  return {
    sections: sections.toSorted((one, other) => (one.order ?? defaultOrder) - (other.order ?? defaultOrder)),
    problems: [...mark(known), ...mark(others)],
    metrics: () => all.flatMap(({ metrics }) => metrics?.() ?? []),
    logs: new Set(all.flatMap(({ logs = [] }) => logs))
  }
}

/** With the rows of the problems that a slice reports, by its name: first in its section, or in one of their own. */
const withReported = (
  added: ReadonlyArray<Section>,
  reported: Readonly<Record<string, ReadonlyArray<Row>>>
): ReadonlyArray<Section> => {
  const titled = new Set(added.map(({ name }) => name))
  const others = Object.entries(reported).filter(([name, rows]) => rows.length > 0 && !titled.has(name))
  return [
    ...added.map((section, index) => {
      const isFirst = added.findIndex(({ name }) => name === section.name) === index
      return isFirst ? { ...section, rows: [...(reported[section.name] ?? []), ...section.rows] } : section
    }),
    ...others.map(([name, rows]) => ({ name, title: String.capitalize(name), rows }))
  ]
}
