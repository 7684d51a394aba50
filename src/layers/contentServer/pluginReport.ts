/**
 * The report of a content server: its counts, which are metrics and part of its slice of the state, and the rows and problems of
 * this slice.
 */
import * as Metric from "effect/Metric"
import { hasPassed } from "../../internal/monotonicMillis.ts"
import { countText, sizeText } from "../../internal/readable.ts"
import type { ContentServerStatistics } from "../../services/ContentServer.ts"
import type { Problem } from "../../services/Problem.ts"
import type { ContentServerState } from "../../services/Slices.ts"
import type { Row } from "../../services/StatusSnapshot.ts"
import { makeCount } from "../status/metrics.ts"
import { kv, used } from "../status/rows.ts"
import { contentServersOf, reportOf } from "../status/slices.ts"

export const pluginReport = (name: string) =>
  reportOf(contentServersOf, name, (slice, { now }) => ({
    sections: [{ name, order: 30, title: "Content server", rows: rows(slice) }],
    problems: [...problems(name, slice), ...pageProblems(slice, now)]
  }))

/** How long the page may be away while it is replaced, in milliseconds. */
const replacedMs = 30_000

const pageProblems = ({ page, pageProblem }: ContentServerState, now: number): ReadonlyArray<Problem> =>
  pageProblem === undefined || !hasPassed(replacedMs, Date.parse(pageProblem.since), now)
    ? []
    : [
        {
          code: "content-server:page",
          severity: "error",
          subject: page,
          text: `The page at ${page} cannot be opened since ${pageProblem.since}: ${pageProblem.message}`,
          since: pageProblem.since
        }
      ]

const problems = (
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
          text: `All ${countText(maxConnections, "connection")} of the content server are in use: further connections wait or are refused. Raise "maxConnections" if you need more`
        }
      ]

const rows = (slice: ContentServerState): ReadonlyArray<Row> => [
  kv("Address", slice.url),
  used("Connections", slice.connections, slice.maxConnections),
  kv("Responses", `${slice.requests}, ${sizeText(slice.bytes)}; ${slice.openResponses} open`)
]

export const metrics = {
  openResponses: Metric.gauge("vitrine_content_server_open_responses", {
    description: "Responses with content that are being sent now"
  }),
  requests: Metric.counter("vitrine_content_server_requests_total", {
    description: "Requests for content",
    incremental: true
  }),
  bytes: Metric.counter("vitrine_content_server_bytes_total", {
    description: "Bytes of responses with content that have ended",
    incremental: true
  })
}

export const makeRecorder = () => {
  const openResponses = makeCount(metrics.openResponses)
  const requests = makeCount(metrics.requests)
  const bytes = makeCount(metrics.bytes)
  return {
    /** Counts a request. Call the returned function with the bytes of the response when the response has ended. */
    begin: () => {
      requests.add(1)
      openResponses.add(1)
      return (sent: number): void => {
        bytes.add(sent)
        openResponses.add(-1)
      }
    },
    statistics: (connections: number): ContentServerStatistics => ({
      connections,
      openResponses: openResponses.total(),
      requests: requests.total(),
      bytes: bytes.total()
    })
  }
}
