/**
 * The health in one word: the same on the dashboard, at `GET /healthz` and in `vitrine status`.
 */
import type { Problem } from "../../services/Problem.ts"
import type { HealthWord, View } from "../../services/View.ts"

/** The worst word that applies. Muted problems do not count. Problems of players count by their severity only. */
export const wordOf = (problems: ReadonlyArray<Problem>): HealthWord => {
  const counted = problems.filter(({ muted }) => muted === undefined)
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

/**
 * Codes of problems that decide the health of the whole, or that the report to a hub omits.
 */
export const codes = { none: "content:none", held: "content:held", hubSilent: "hub:silent" } as const

/** Why the last fetch failed: of the content with this name, or else of the first content that failed. */
export const lastFetchFailure = ({ contents }: View, name?: string): string | undefined =>
  contents
    .filter((content) => (name ?? content.name) === content.name)
    .flatMap(({ lastFetch }) => lastFetch?.failure ?? [])[0]
