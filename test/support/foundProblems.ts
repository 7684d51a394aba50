/**
 * What the differ of problems finds, of problems that a test gives keys.
 */
import type { Found, ProblemChange } from "../../src/layers/status/problems.ts"
import type { Problem } from "../../src/services/Problem.ts"

type Keyed = ReadonlyMap<string, Problem>

/** From one look to the next; `now` is in milliseconds since 1970. */
export const foundProblems = (before: Keyed, standing: Keyed, now: number): Found => ({
  standing,
  changes: [
    ...[...before].flatMap(
      ([key, problem]): ReadonlyArray<ProblemChange> =>
        standing.has(key) ? [] : [{ _tag: "Over", key, problem, endedAt: new Date(now).toISOString() }]
    ),
    ...[...standing].flatMap(([key, problem]): ReadonlyArray<ProblemChange> => {
      const known = before.get(key)
      const isWorse = known?.severity === "warning" && problem.severity === "error"
      return isWorse
        ? [{ _tag: "Change", key, problem, isWorse }]
        : known === undefined
          ? [{ _tag: "Begin", key, problem, isAgain: false }]
          : []
    })
  ]
})
