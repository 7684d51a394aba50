/**
 * The counts of a content server, for its status and as metrics.
 */
import * as Metric from "effect/Metric"
import type { ContentServerStatistics } from "../../services/ContentServer.ts"
import { makeCount } from "../http/counts.ts"

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
