/**
 * Makes the view from the parts that plugins give, with the health in one word: the same on the dashboard, at `GET /healthz` and
 * in `vitrine status`. Knows no plugin by name.
 */
import * as Array from "effect/Array"
import * as Record from "effect/Record"
import * as String from "effect/String"
import { defined } from "../../internal/schemas.ts"
import type { ControllerReading, PluginReading, ReadingContext } from "../../services/ControllerState.ts"
import type { Problem } from "../../services/Problem.ts"
import type { Row, Section, StatusSnapshot } from "../../services/StatusSnapshot.ts"
import type { HealthWord, View } from "../../services/View.ts"
import { muteSections, mutesOf, type Owned, type Remembered, remember, withMutes } from "./problems.ts"
import { isCounted, problemRow, toneOf, tones } from "./rows.ts"
import { reported, takesReports } from "./slices.ts"

const defaultOrder = 50

export interface ViewInput extends ReadingContext {
  readonly header: StatusSnapshot["header"]
  readonly readings: ReadonlyArray<readonly [plugin: string, reading: PluginReading]>
  /** Sections that plugins add themselves. */
  readonly added: ReadonlyArray<Section>
}

/**
 * The view, and the problems to remember for the next one. The `problems` of a slice that no plugin reads come first in
 * the added section of its name, or in their own section.
 */
export const makeView = (
  input: ViewInput,
  before: Remembered
): { readonly reading: ControllerReading; readonly remembered: Remembered } => {
  const { added, header, now, players, readings, screens, state } = input
  const all = readings.map(([, reading]) => reading)
  const { problems: standing, remembered } = remember(
    before,
    foundIn(input),
    new Date(now).toISOString(),
    unwatchedBy(input)
  )
  // A mute may be about a problem that is no longer watched.
  const problems = withMutes(state, now)(standing)
  const sections = [
    ...all.flatMap(({ sections = [] }) => sections),
    ...withReported(added, unread(input)),
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

/** Errors first. Problems of unexpected players come last, because anybody could make them up. */
const foundIn = (input: ViewInput): ReadonlyArray<Owned> => {
  const { now, players, readings, screens, state } = input
  const mark = withMutes(state, now)
  const owned = (plugin: string, problems: ReadonlyArray<Problem>) =>
    problems.map((problem): Owned => ({ plugin, problem }))
  const expected = new Set((state.system.players ?? []).map(({ id }) => id))
  const [others, known] = Array.partition(
    [
      ...readings.flatMap(([plugin, { problems = [] }]) => owned(plugin, problems)),
      ...Object.entries(unread(input)).flatMap(([plugin, problems]) => owned(plugin, problems)),
      ...screens.flatMap(({ problems }) => owned("screens", problems)),
      ...players.flatMap(({ problems }) => owned("players", problems))
    ],
    ({ problem: { player } }) => player === undefined || expected.has(player.split("/", 1).join())
  )
  return [known, others].flatMap((all) => {
    const marked = all.map(({ plugin, problem }) => ({ plugin, problem: mark([problem])[0] ?? problem }))
    return tones.flatMap((tone) => marked.filter(({ problem }) => toneOf(problem) === tone))
  })
}

export const problemsIn = (input: ViewInput): ReadonlyArray<Problem> =>
  foundIn(input).map(({ problem }) => problem)

/** Why a plugin no longer looks for its problem; `stopped` if the plugin is not there any more. */
const unwatchedBy = ({ readings, state }: ViewInput) => {
  const reports = new Map(readings)
  return ({ plugin, problem }: Owned): string | undefined => {
    const report = reports.get(plugin)
    return report === undefined && !Object.hasOwn(state.plugins, plugin)
      ? "stopped"
      : report?.unwatched?.(problem)
  }
}

/** The problems in slices that no plugin reads, by the names of the slices. */
const unread = ({ now, readings, state }: ViewInput): Readonly<Record<string, ReadonlyArray<Problem>>> => {
  const read = new Set(readings.map(([plugin]) => plugin))
  const mark = withMutes(state, now)
  return Record.map(
    Record.filter(state.plugins, (_, plugin) => !read.has(plugin)),
    (slice) => mark(reported(slice))
  )
}

/** Adds rows for the problems in slices: first in the section of the same name, or else in a new section. */
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

/** The worst word that applies. Muted and unwatched problems do not count. Problems of players count by their severity only. */
export const wordOf = (problems: ReadonlyArray<Problem>): HealthWord => {
  const counted = problems.filter(isCounted)
  const has = (code: string) =>
    counted.some((problem) => problem.code === code && problem.player === undefined)
  return has(codes.none)
    ? "NO CONTENT"
    : counted.some(({ severity }) => severity === "error")
      ? "FAILING"
      : has(codes.held)
        ? "HELD"
        : counted.length > 0
          ? "WARNING"
          : "OK"
}

/** Whether visitors see what they should, as far as is known. */
export const isHealthy = (word: HealthWord): boolean => word !== "NO CONTENT" && word !== "FAILING"

/** Codes of problems that decide the health of the whole, or that the report to a hub omits. */
export const codes = { none: "content:none", held: "content:held", hubSilent: "hub:silent" } as const

/** Why the last fetch failed: of the content with this name, or else of the first content that failed. */
export const lastFetchFailure = ({ contents }: View, name?: string): string | undefined =>
  contents
    .filter((content) => (name ?? content.name) === content.name)
    .flatMap(({ lastFetch }) => lastFetch?.failure ?? [])[0]
