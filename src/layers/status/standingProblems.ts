/**
 * Which problems continue from one look at them to the next, and what has changed: begins, gets worse, ends. Pure.
 */
import type { Problem } from "../../services/Problem.ts"
import { errorsFirst } from "./rows.ts"

/** How many problems continue at most, the most important first; for as many that are over, it is known how often they began. */
export const maxProblems = 256

/** Identifies a problem while it lasts, although its text may change. */
export const keyOf = ({ code, player = "", subject, text }: Problem): string =>
  [player, code, subject ?? text].join("\n")

/** Problems that continue, by their keys. */
export type StandingProblems<P extends Problem = Problem> = ReadonlyMap<string, P>

export type ProblemChange =
  /** It has begun, or is worse: an error now, and was a warning. */
  | { readonly _tag: "Begin"; readonly key: string; readonly problem: Problem; readonly isWorse: boolean }
  /** It is over. `endedAt` is ISO 8601, UTC. */
  | { readonly _tag: "End"; readonly key: string; readonly problem: Problem; readonly endedAt: string }

/** The problems of now, and what has changed since the look before. */
export interface Found {
  readonly standing: StandingProblems
  readonly changes: ReadonlyArray<ProblemChange>
}

/** The first problem of each key, up to the maximum. */
const standingOf = (problems: ReadonlyArray<Problem>): StandingProblems => {
  const standing = new Map<string, Problem>()
  for (const problem of problems) {
    const key = keyOf(problem)
    if (!standing.has(key) && standing.size < maxProblems) {
      standing.set(key, problem)
    }
  }
  return standing
}

/** `problems` are those of now, the most important first; `now` is ISO 8601, UTC. Of several with the same key, the first stays. */
export const compare = (before: StandingProblems, problems: ReadonlyArray<Problem>, now: string): Found => {
  const standing = standingOf(problems)
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

/** A problem as it is in the state. */
export interface Standing extends Problem {
  readonly since: string
  readonly count: number
}

/** By their keys: the problems that continue, and how often each problem that is over has begun. */
export interface Remembered {
  readonly standing: StandingProblems<Standing>
  readonly over: ReadonlyMap<string, number>
}

export const nothingRemembered: Remembered = { standing: new Map(), over: new Map() }

/** Adds the time when each problem began, and how often it has begun. Errors come first; otherwise as `compare`. */
export const remember = (
  before: Remembered,
  problems: ReadonlyArray<Problem>,
  now: string
): { readonly problems: ReadonlyArray<Standing>; readonly remembered: Remembered } => {
  const standing = new Map(
    [...standingOf(problems)].map(([key, problem]) => {
      const known = before.standing.get(key)
      const count = known?.count ?? (before.over.get(key) ?? 0) + 1
      return [key, { ...problem, since: problem.since ?? known?.since ?? now, count }] as const
    })
  )
  const ended = [...before.standing].flatMap(([key, { count }]) =>
    standing.has(key) ? [] : [[key, count] as const]
  )
  const over = [...before.over].filter(([key]) => !standing.has(key))
  return {
    problems: errorsFirst([...standing.values()]),
    remembered: { standing, over: new Map([...over, ...ended].slice(-maxProblems)) }
  }
}
