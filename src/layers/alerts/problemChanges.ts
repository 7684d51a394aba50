/**
 * What has changed between two checks of the problems of a controller. Pure.
 */
import type { Problem } from "../../services/Problem.ts"

/** A problem that goes on, with the time at which it was first found if it does not say since when it is there. */
export interface Standing extends Problem {
  readonly since: string
}

/** Those that go on, by what tells them apart. */
export type StandingProblems = ReadonlyMap<string, Standing>

export type ProblemChange =
  /** It has begun, or is an error now and was a warning. */
  | { readonly _tag: "Begin"; readonly key: string; readonly problem: Standing }
  /** It is over. `endedAt` is ISO 8601, UTC. */
  | { readonly _tag: "End"; readonly key: string; readonly problem: Standing; readonly endedAt: string }

/** What there is now, and what has changed since the check before. */
export interface Found {
  readonly standing: StandingProblems
  readonly changes: ReadonlyArray<ProblemChange>
}

/** How many problems are followed at most; of more, the errors come first. */
export const maxProblems = 256

/** The same problem for as long as it goes on, though its text may change. */
export const keyOf = ({ code, subject, text }: Problem): string => `${code} ${subject ?? text}`

/** `problems` are those of now, the errors first; `now` is ISO 8601, UTC. */
export const compare = (before: StandingProblems, problems: ReadonlyArray<Problem>, now: string): Found => {
  const standing = new Map<string, Standing>()
  for (const problem of problems) {
    const key = keyOf(problem)
    if (!standing.has(key) && standing.size < maxProblems) {
      standing.set(key, { ...problem, since: problem.since ?? before.get(key)?.since ?? now })
    }
  }
  const begun = [...standing].flatMap(([key, problem]): ReadonlyArray<ProblemChange> => {
    const known = before.get(key)
    const isWorse = known?.severity === "warning" && problem.severity === "error"
    return known === undefined || isWorse ? [{ _tag: "Begin", key, problem }] : []
  })
  const ended = [...before].flatMap(
    ([key, problem]): ReadonlyArray<ProblemChange> =>
      standing.has(key) ? [] : [{ _tag: "End", key, problem, endedAt: now }]
  )
  return { standing, changes: [...ended, ...begun] }
}
