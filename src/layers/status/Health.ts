/**
 * Whether all is well, in one word, and what is not: on the dashboard, at `GET /healthz`, and in `vitrine status`.
 *
 * It is a function of the problems of the state, so that all three say the same.
 */
import type { Problem } from "../../services/Problem.ts"
import type { GlobalState } from "../../services/StatusSnapshot.ts"
import { codes } from "./codes.ts"
import { reported } from "./slices.ts"

/** The first one that applies, from the worst. */
export type HealthWord = "NO CONTENT" | "FAILING" | "HELD" | "WARNING" | "OK"

export interface Health {
  readonly word: HealthWord
  /** Not where the word is `NO CONTENT` or `FAILING`. */
  readonly isHealthy: boolean
  /** Errors first, and those that are muted last, which do not count. */
  readonly problems: ReadonlyArray<Problem>
}

export const healthOf = (problems: ReadonlyArray<Problem>): Health => {
  const word = wordOf(problems.filter(({ muted }) => muted === undefined))
  return { word, isHealthy: word !== "NO CONTENT" && word !== "FAILING", problems }
}

const wordOf = (problems: ReadonlyArray<Problem>): HealthWord => {
  const has = (code: string) =>
    problems.some((problem) => problem.code === code && problem.player === undefined)
  return has(codes.none)
    ? "NO CONTENT"
    : problems.some(({ severity }) => severity === "error")
      ? "FAILING"
      : has(codes.held)
        ? "HELD"
        : problems.length > 0
          ? "WARNING"
          : "OK"
}

/** Those of a state, errors first; where it lists none, as that of another controller, what its slices report. */
export const problemsOf = ({ plugins, problems }: GlobalState): ReadonlyArray<Problem> =>
  problems ?? Object.values(plugins).flatMap(reported)
