/**
 * What a state means at one time: the sections of the status, and the problems.
 */
import * as Predicate from "effect/Predicate"
import type { Problem } from "../../services/Problem.ts"
import type { HealthRules, Slice } from "../../services/Slices.ts"
import type { GlobalState, Section } from "../../services/StatusSnapshot.ts"
import * as content from "./content.ts"
import * as nats from "./nats.ts"
import * as players from "./players.ts"
import { problemsIn, problemsOfRows } from "./rows.ts"
import * as screens from "./screens.ts"
import { sectionsOf } from "./sections.ts"
import * as servers from "./servers.ts"
import { type Named, reported, slicesOf } from "./slices.ts"
import * as transport from "./transport.ts"

type State = Pick<GlobalState, "plugins" | "system">

export interface Reading {
  readonly sections: ReadonlyArray<Section>
  /** Errors first. */
  readonly problems: ReadonlyArray<Problem>
}

const defaultRules: HealthRules = { failingForMs: 15 * 60_000 }

/**
 * With the sections that were added; `now` is in milliseconds since 1970. It goes by the rules of the controller's dashboard, or the
 * default ones if it has none. Added sections count by the tones of their rows, but for those of plugins that report `problems`.
 */
export const readState = (state: State, added: ReadonlyArray<Section>, now: number): Reading => {
  const slices = slicesOf(state)
  const shownOn = screens.screensOf(state, now, slices)
  const fleet = players.playersOf(state, now, slices)
  const sections = sectionsOf(state, added, { now, slices, screens: shownOn, players: fleet })
  const toned = added.filter(
    ({ name }) =>
      !slices.some(([slice]) => slice === name) && !Predicate.hasProperty(state.plugins[name], "problems")
  )
  const rules = rulesOf(slices)
  const problems = [
    ...slices.flatMap(([name, slice]) => problemsOf(name, slice, rules, now)),
    ...problemsIn(shownOn),
    ...problemsIn(fleet),
    ...Object.values(state.plugins).flatMap(reported),
    ...toned.flatMap(problemsOfRows)
  ]
  return {
    sections,
    problems: [
      ...problems.filter(({ severity }) => severity === "error"),
      ...problems.filter(({ severity }) => severity === "warning")
    ]
  }
}

const problemsOf = (name: string, slice: Slice, rules: HealthRules, now: number): ReadonlyArray<Problem> => {
  switch (slice.kind) {
    case "content":
      return content.problems(name, slice, rules, now)
    case "http-transport":
      return transport.problems(name, slice)
    case "content-server":
      return servers.contentServerProblems(name, slice)
    case "nats":
      return nats.problems(slice)
    case "dashboard":
      return servers.dashboardProblems(name, slice)
  }
}

const rulesOf = (slices: ReadonlyArray<Named<Slice>>): HealthRules =>
  slices.flatMap(([, slice]) => (slice.kind === "dashboard" ? [slice.rules] : []))[0] ?? defaultRules
