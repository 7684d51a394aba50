/**
 * What is remembered of problems from one look at them to the next: since when each is there, and how often it has begun. Pure.
 */
import type { Problem } from "../../services/Problem.ts"
import { errorsFirst } from "./rows.ts"

/** A problem as it is in the state. */
export interface Standing extends Problem {
  readonly since: string
  readonly count: number
}

/** By what tells problems apart; of one that is over, how often it was there. */
export type Remembered = ReadonlyMap<string, Partial<Pick<Standing, "since">> & Pick<Standing, "count">>

/** How many problems are in the state at most, the most important ones; of as many that are over it is known how often they were there. */
export const maxProblems = 256

/** Identifies a problem while it lasts, although its text may change. */
export const keyOf = ({ code, player = "", subject, text }: Problem): string =>
  [player, code, subject ?? text].join("\n")

/**
 * `problems` are those of now, from the most important; `now` is ISO 8601, UTC. Of those with the same key the first one stays. Those
 * that stand have the errors first.
 */
export const remember = (
  before: Remembered,
  problems: ReadonlyArray<Problem>,
  now: string
): { readonly standing: ReadonlyArray<Standing>; readonly remembered: Remembered } => {
  const standing = new Map<string, Standing>()
  for (const problem of problems) {
    const key = keyOf(problem)
    if (!standing.has(key) && standing.size < maxProblems) {
      const { count = 0, since } = before.get(key) ?? {}
      standing.set(key, {
        ...problem,
        since: problem.since ?? since ?? now,
        count: since === undefined ? count + 1 : count
      })
    }
  }
  const over = [...before].flatMap(([key, { count }]) =>
    standing.has(key) ? [] : [[key, { count }] as const]
  )
  return {
    standing: errorsFirst([...standing.values()]),
    remembered: new Map([...over.slice(-maxProblems), ...standing])
  }
}
