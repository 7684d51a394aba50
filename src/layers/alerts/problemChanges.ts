/**
 * What has changed between two checks of the problems of a controller. Pure.
 */
import type { Problem } from "../../services/Problem.ts"
import { keyOf, maxProblems } from "../status/standingProblems.ts"

/** Those that go on, by what tells them apart. */
export type StandingProblems = ReadonlyMap<string, Problem>

export type ProblemChange =
  /** It has begun, or is worse: an error now, and was a warning. */
  | { readonly _tag: "Begin"; readonly key: string; readonly problem: Problem; readonly isWorse: boolean }
  /** It is over. `endedAt` is ISO 8601, UTC. */
  | { readonly _tag: "End"; readonly key: string; readonly problem: Problem; readonly endedAt: string }

/** What there is now, and what has changed since the check before. */
export interface Found {
  readonly standing: StandingProblems
  readonly changes: ReadonlyArray<ProblemChange>
}

/** `problems` are those of now, the errors first; `now` is ISO 8601, UTC. */
export const compare = (before: StandingProblems, problems: ReadonlyArray<Problem>, now: string): Found => {
  const standing = new Map(problems.slice(0, maxProblems).map((problem) => [keyOf(problem), problem]))
  const begun = [...standing].flatMap(([key, problem]): ReadonlyArray<ProblemChange> => {
    const known = before.get(key)
    const isWorse = known?.severity === "warning" && problem.severity === "error"
    return known === undefined || isWorse ? [{ _tag: "Begin", key, problem, isWorse }] : []
  })
  const ended = [...before].flatMap(
    ([key, problem]): ReadonlyArray<ProblemChange> =>
      standing.has(key) ? [] : [{ _tag: "End", key, problem, endedAt: now }]
  )
  return { standing, changes: [...ended, ...begun] }
}
