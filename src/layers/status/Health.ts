/**
 * Whether all is well, in one word, and what is not: on the dashboard, at `GET /healthz`, and in `vitrine status`.
 *
 * It is a function of the state and what the status makes of it, so that all three say the same.
 */
import * as Predicate from "effect/Predicate"
import type { Problem } from "../../services/Problem.ts"
import type { HealthRules } from "../../services/Slices.ts"
import type { GlobalState, Section } from "../../services/StatusSnapshot.ts"
import * as content from "./content.ts"
import { problemsOfRows } from "./rows.ts"
import * as screens from "./screens.ts"
import { contentsOf, reported, slicesOf } from "./slices.ts"

/** The first one that applies, from the worst. */
export type HealthWord = "NO CONTENT" | "FAILING" | "HELD" | "WARNING" | "OK"

export interface Health {
  readonly word: HealthWord
  /** Not where the word is `NO CONTENT` or `FAILING`. */
  readonly isHealthy: boolean
  /** Errors first; empty where the word is `OK`. */
  readonly problems: ReadonlyArray<Problem>
}

const defaultRules: HealthRules = { failingForMs: 15 * 60_000 }

/**
 * By the rules of the controller's dashboard, or the default ones if it has none; `now` is in milliseconds since 1970. Sections
 * count by the tones of their rows, but for those of contents, and of plugins that report `problems`.
 */
export const healthOf = (state: GlobalState, sections: ReadonlyArray<Section>, now: number): Health => {
  const slices = slicesOf(state)
  const rules = slices.flatMap(([, slice]) => (slice.kind === "dashboard" ? [slice.rules] : []))[0]
  const contents = contentsOf(slices)
  const toned = sections.filter(
    ({ name }) =>
      !contents.some(([content]) => content === name) &&
      !Predicate.hasProperty(state.plugins[name], "problems")
  )
  const problems = [
    ...contents.flatMap(([name, slice]) => content.problems(name, slice, rules ?? defaultRules, now)),
    ...screens.problems(screens.screensOf(state, now)),
    ...Object.values(state.plugins).flatMap(reported),
    ...toned.flatMap(problemsOfRows)
  ]
  const errors = problems.filter(({ severity }) => severity === "error")
  const has = (code: string) => problems.some((problem) => problem.code === code)
  const word = has(content.codes.none)
    ? "NO CONTENT"
    : errors.length > 0
      ? "FAILING"
      : has(content.codes.held)
        ? "HELD"
        : problems.length > 0
          ? "WARNING"
          : "OK"
  return {
    word,
    isHealthy: word !== "NO CONTENT" && word !== "FAILING",
    problems: [...errors, ...problems.filter(({ severity }) => severity === "warning")]
  }
}
