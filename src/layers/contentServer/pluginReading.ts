/**
 * Rows and problems of the status, from the slice of a content server.
 */
import { countText, sizeText } from "../../internal/readable.ts"
import type { Problem } from "../../services/Problem.ts"
import type { ContentServerState } from "../../services/Slices.ts"
import type { Row } from "../../services/StatusSnapshot.ts"
import { kv, used } from "../status/rows.ts"
import { contentServersOf, readingOf } from "../status/slices.ts"

export const reading = (name: string) =>
  readingOf(contentServersOf, name, (slice) => ({
    sections: [{ name, order: 30, title: "Content server", rows: rows(slice) }],
    problems: problems(name, slice)
  }))

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
