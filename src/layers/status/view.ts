/**
 * Makes the view of what plugins say. It knows no plugin by name.
 */
import * as Array from "effect/Array"
import * as Record from "effect/Record"
import * as String from "effect/String"
import { defined } from "../../internal/schemas.ts"
import type { ControllerReading, PluginReading, ReadingContext } from "../../services/ControllerState.ts"
import type { Problem } from "../../services/Problem.ts"
import type { Row, Section, StatusSnapshot } from "../../services/StatusSnapshot.ts"
import { wordOf } from "./health.ts"
import { muteSections, mutesOf, withMutes } from "./mutedProblems.ts"
import { problemRow } from "./rows.ts"
import { reported, takesReports } from "./slices.ts"
import { type Remembered, remember } from "./standingProblems.ts"

const defaultOrder = 50

export interface Said extends ReadingContext {
  readonly header: StatusSnapshot["header"]
  readonly readings: ReadonlyArray<readonly [plugin: string, reading: PluginReading]>
  /** Sections of plugins that add them by themselves. */
  readonly added: ReadonlyArray<Section>
}

/**
 * The view, and what is remembered of its problems for the next one. The `problems` of a slice that has no reading come first in the added
 * section of its name, or have their own section.
 */
export const makeView = (
  said: Said,
  before: Remembered
): { readonly reading: ControllerReading; readonly remembered: Remembered } => {
  const { added, header, now, players, readings, screens, state } = said
  const all = readings.map(([, reading]) => reading)
  const { problems, remembered } = remember(before, problemsIn(said), new Date(now).toISOString())
  const sections = [
    ...all.flatMap(({ sections = [] }) => sections),
    ...withReported(added, unread(said)),
    ...muteSections(state, now)
  ]
  const view = {
    header,
    sections: sections.toSorted((one, other) => (one.order ?? defaultOrder) - (other.order ?? defaultOrder)),
    now,
    word: wordOf(problems),
    problems,
    contents: all.flatMap(({ content }) => (content === undefined ? [] : [content])),
    screens,
    ...(takesReports(state) ? { players } : {}),
    mutes: mutesOf(state, now),
    ...defined({ dashboard: all.find(({ dashboard }) => dashboard !== undefined)?.dashboard })
  }
  return {
    reading: {
      view,
      state: { ...state, problems },
      metrics: () => all.flatMap(({ metrics }) => metrics?.() ?? []),
      logs: new Set(all.flatMap(({ logs = [] }) => logs))
    },
    remembered
  }
}

/** Errors first. Behind all others come those of players that nobody expects, which may be made up. */
export const problemsIn = (said: Said): ReadonlyArray<Problem> => {
  const { now, players, readings, screens, state } = said
  const mark = withMutes(state, now)
  const expected = new Set((state.system.players ?? []).map(({ id }) => id))
  const [others, known] = Array.partition(
    [
      ...readings.flatMap(([, { problems = [] }]) => problems),
      ...Object.values(unread(said)).flat(),
      ...[...screens, ...players].flatMap(({ problems }) => problems)
    ],
    ({ player }) => player === undefined || expected.has(player.split("/", 1).join())
  )
  return [...mark(known), ...mark(others)]
}

/** The problems in the slices that have no reading, by their names. */
const unread = ({ now, readings, state }: Said): Readonly<Record<string, ReadonlyArray<Problem>>> => {
  const read = new Set(readings.map(([plugin]) => plugin))
  const mark = withMutes(state, now)
  return Record.map(
    Record.filter(state.plugins, (_, plugin) => !read.has(plugin)),
    (slice) => mark(reported(slice))
  )
}

/** With the rows of problems that slices report, by their names: first in the section of this name, or in a section of their own. */
const withReported = (
  added: ReadonlyArray<Section>,
  problems: Readonly<Record<string, ReadonlyArray<Problem>>>
): ReadonlyArray<Section> => {
  const rowsOf = (name: string): ReadonlyArray<Row> => (problems[name] ?? []).map(problemRow)
  const titled = new Set(added.map(({ name }) => name))
  const others = Object.keys(problems).filter((name) => rowsOf(name).length > 0 && !titled.has(name))
  return [
    ...added.map((section, index) => {
      const isFirst = added.findIndex(({ name }) => name === section.name) === index
      return isFirst ? { ...section, rows: [...rowsOf(section.name), ...section.rows] } : section
    }),
    ...others.map((name) => ({ name, title: String.capitalize(name), rows: rowsOf(name) }))
  ]
}
