/**
 * What table sources ask for and save, as metrics.
 *
 * Their label `source` is the id of the source; no metric knows of keys, links or the content of cells.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as MetricLabel from "effect/MetricLabel"
import type { FetchedAttachments } from "../../../services/ContentSource.ts"
import type { CursorExpired, TableError, TableSourceClient } from "../../../services/TableSourceClient.ts"
import type { WaitObserver } from "../../../services/WaitObserver.ts"

const requests = Metric.counter("vitrine_table_requests_total", {
  description: "Pages and records asked for, retries not counted, by outcome: ok, or why there was none",
  incremental: true
})

const waits = Metric.counter("vitrine_table_waits_total", {
  description: "Waits before a request, by reason: pacing, penalty or retry",
  incremental: true
})

const attachments = Metric.counter("vitrine_table_attachments_total", {
  description: "Files of attachments that are in a fetched source, by outcome: downloaded or reused",
  incremental: true
})

/** The client, with its requests counted as those of a source. */
export const countRequests =
  (source: string) =>
  (client: typeof TableSourceClient.Service): typeof TableSourceClient.Service => {
    const counted = <A, E extends TableError | CursorExpired>(request: Effect.Effect<A, E>) =>
      Effect.tapBoth(request, {
        onSuccess: () => count(requests, { source, outcome: "ok" }),
        onFailure: (error) => count(requests, { source, outcome: reasonOf(error) })
      })
    return {
      ...client,
      listPage: (request) => counted(client.listPage(request)),
      readRecord: (request) => counted(client.readRecord(request))
    }
  }

const reasonOf = (error: TableError | CursorExpired): string =>
  error._tag === "vitrine/TableError" ? error.reason : error._tag

/** The observer, with the waits reported to it counted as those of a source. */
export const countWaits = (
  source: string,
  { waiting }: typeof WaitObserver.Service
): typeof WaitObserver.Service => ({
  waiting: (wait) => Effect.zipRight(count(waits, { source, reason: wait.reason }), waiting(wait))
})

export const countAttachments = (source: string, { reused, total }: FetchedAttachments) =>
  Effect.zipRight(
    count(attachments, { source, outcome: "reused" }, reused),
    count(attachments, { source, outcome: "downloaded" }, total - reused)
  )

const count = (
  counter: Metric.Metric.Counter<number>,
  labels: Readonly<Record<string, string>>,
  amount = 1
): Effect.Effect<void> =>
  Metric.incrementBy(
    Metric.taggedWithLabels(
      counter,
      Object.entries(labels).map(([name, value]) => MetricLabel.make(name, value))
    ),
    amount
  )
