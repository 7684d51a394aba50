/**
 * The slice of the dashboard, and its rows and problems in the status.
 */
import * as Schema from "effect/Schema"
import { countText } from "../../internal/readable.ts"
import { optional } from "../../internal/schemas.ts"
import type { Problem } from "../../services/Problem.ts"
import { BusProblem } from "../../services/Slices.ts"
import type { Row } from "../../services/StatusSnapshot.ts"
import { busRows, kv, used } from "../status/rows.ts"
import { reportOf, slicesOf } from "../status/slices.ts"

/** The slice of the dashboard. */
export const DashboardState = Schema.Struct({
  kind: Schema.Literal("dashboard"),
  url: Schema.String,
  pages: Schema.NonNegativeInt,
  maxPages: Schema.NonNegativeInt,
  problem: optional(BusProblem)
})
export type DashboardState = typeof DashboardState.Type

const dashboardsOf = slicesOf(DashboardState)

export const pluginReport = (name: string) =>
  reportOf(dashboardsOf, name, (slice) => ({
    sections: [{ name, order: 40, title: "Dashboard", rows: rows(slice) }],
    problems: [...problems(name, slice)],
    dashboard: slice.url,
    logs: ["dashboard:no-events"]
  }))

function* problems(subject: string, { maxPages, pages, problem }: DashboardState): Generator<Problem> {
  if (problem !== undefined) {
    const { reason, since } = problem
    const text = `The dashboard receives no events since ${since}: ${reason}`
    yield { code: "dashboard:no-events", severity: "warning", subject, text, since }
  }
  if (pages >= maxPages) {
    const text = `All ${countText(maxPages, "page")} of the dashboard are open: close some of them`
    yield { code: "dashboard:full", severity: "warning", subject, text }
  }
}

const rows = ({ maxPages, pages, problem, url }: DashboardState): ReadonlyArray<Row> => [
  kv("Address", url),
  used("Open pages", pages, maxPages),
  ...busRows(problem)
]
