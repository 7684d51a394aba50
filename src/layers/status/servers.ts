/**
 * What the slices of the content server and the dashboard mean.
 */
import { countText, sizeText } from "../../internal/readable.ts"
import type { Problem } from "../../services/Problem.ts"
import type { ContentServerState, DashboardState } from "../../services/Slices.ts"
import type { Row } from "../../services/StatusSnapshot.ts"
import { kv } from "./rows.ts"
import * as transport from "./transport.ts"

export const contentServerProblems = (
  name: string,
  { connections, maxConnections }: ContentServerState
): ReadonlyArray<Problem> =>
  connections < maxConnections
    ? []
    : [
        {
          code: "content-server:full",
          severity: "warning",
          subject: name,
          text: `All ${countText(maxConnections, "connection")} of the content server are in use: others wait, or are refused. Raise "maxConnections" if that is not enough`
        }
      ]

export const dashboardProblems = (
  name: string,
  { maxPages, pages, problem }: DashboardState
): ReadonlyArray<Problem> => [
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
          text: `All ${countText(maxPages, "page")} of the dashboard are open: close those that nobody looks at`
        }
      ])
]

export const contentServerRows = (slice: ContentServerState): ReadonlyArray<Row> => [
  kv("Address", slice.url),
  used("Connections", slice.connections, slice.maxConnections),
  kv("Responses", `${slice.requests}, ${sizeText(slice.bytes)}; ${slice.openResponses} open`)
]

export const dashboardRows = ({ maxPages, pages, problem, url }: DashboardState): ReadonlyArray<Row> => [
  kv("Address", url),
  used("Open pages", pages, maxPages),
  ...transport.busRows(problem)
]

const used = (label: string, count: number, maximum: number): Row =>
  kv(label, `${count} of ${maximum}`, count < maximum ? "ok" : "warn")
