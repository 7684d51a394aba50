/**
 * The slice of the dashboard, and what it means.
 */
import * as Schema from "effect/Schema"
import { countText } from "../../internal/readable.ts"
import type { Problem } from "../../services/Problem.ts"
import { BusProblem, HealthRules } from "../../services/Slices.ts"
import type { Row } from "../../services/StatusSnapshot.ts"
import { busRows, kv, used } from "../status/rows.ts"
import { readingOf, slicesOf } from "../status/slices.ts"

/** The slice of the dashboard. */
export const DashboardState = Schema.Struct({
  kind: Schema.Literal("dashboard"),
  url: Schema.String,
  rules: HealthRules,
  pages: Schema.NonNegativeInt,
  maxPages: Schema.NonNegativeInt,
  problem: Schema.optionalWith(BusProblem, { exact: true })
})
export type DashboardState = typeof DashboardState.Type

const dashboardsOf = slicesOf(DashboardState)

export const reading = (name: string) =>
  readingOf(dashboardsOf, name, (slice) => ({
    sections: [{ name, order: 40, title: "Dashboard", rows: rows(slice) }],
    problems: problems(name, slice),
    logs: ["dashboard:no-events"]
  }))
const problems = (name: string, { maxPages, pages, problem }: DashboardState): ReadonlyArray<Problem> => [
  ...(problem === undefined
    ? []
    : [
        {
          code: "dashboard:no-events",
          severity: "warning" as const,
          subject: name,
          text: `The dashboard receives no events since ${problem.since}: ${problem.reason}`,
          since: problem.since
        }
      ]),
  ...(pages < maxPages
    ? []
    : [
        {
          code: "dashboard:full",
          severity: "warning" as const,
          subject: name,
          text: `All ${countText(maxPages, "page")} of the dashboard are open: close some of them`
        }
      ])
]

const rows = ({ maxPages, pages, problem, url }: DashboardState): ReadonlyArray<Row> => [
  kv("Address", url),
  used("Open pages", pages, maxPages),
  ...busRows(problem)
]
