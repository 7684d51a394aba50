/**
 * What a content server does, counted in one place: for its status, and as metrics of all of the process together.
 */
import * as Metric from "effect/Metric"
import type { ContentServerStatistics } from "../../services/ContentServer.ts"

export interface Recorder {
  /** A request has come; what it returns is called with the bytes of its response when that has ended. */
  readonly begin: () => (bytes: number) => void
  readonly statistics: (connections: number) => ContentServerStatistics
}

/** The statistics of a server without clients. */
export const nothingDone: ContentServerStatistics = {
  connections: 0,
  openResponses: 0,
  requests: 0,
  bytes: 0
}

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

const untagged: ReadonlyArray<never> = []

export const makeRecorder = (): Recorder => {
  let { bytes, openResponses, requests } = nothingDone
  return {
    begin: () => {
      requests += 1
      openResponses += 1
      metrics.requests.unsafeUpdate(1, untagged)
      metrics.openResponses.unsafeModify(1, untagged)
      return (sent) => {
        bytes += sent
        openResponses -= 1
        metrics.bytes.unsafeUpdate(sent, untagged)
        metrics.openResponses.unsafeModify(-1, untagged)
      }
    },
    statistics: (connections) => ({ connections, openResponses, requests, bytes })
  }
}
