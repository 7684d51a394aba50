/**
 * Metrics of content. They add up all controllers of the process.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { FetchOutcome } from "../../services/ContentEvents.ts"
import type { VersionStore } from "../../services/VersionStore.ts"

const fetches = Metric.counter("vitrine_content_fetches_total", {
  description: "Ended fetches of all sources, by outcome: promoted, unchanged or failed",
  incremental: true
})

const lastSuccess = Metric.gauge("vitrine_content_last_success_timestamp_seconds", {
  description: "When a fetch last succeeded, as Unix time; 0 before the first"
}).pipe(Metric.tagged("unit", "s"))

const promotions = Metric.counter("vitrine_content_promotions_total", {
  description: "Versions that became active",
  incremental: true
})

const records = Metric.gauge("vitrine_content_records", {
  description: "Records that the source had when it was last fetched"
})

const versions = Metric.gauge("vitrine_content_versions", { description: "Versions on disk" })

/** Counts an activated version. */
export const countPromotion = Metric.increment(promotions)

/** Counts a fetch when it ends; an interrupted fetch does not count. */
export const countFetch = <E, R>(fetch: Effect.Effect<FetchOutcome, E, R>) =>
  fetch.pipe(
    Effect.tap(({ changed, timestamp }) =>
      Effect.all([
        ended(changed ? "promoted" : "unchanged"),
        Metric.set(lastSuccess, Date.parse(timestamp) / 1000)
      ])
    ),
    Effect.tapErrorCause((cause) => (Cause.isInterruptedOnly(cause) ? Effect.void : ended("failed")))
  )

const outcomes = ["promoted", "unchanged", "failed"] as const

const ofOutcome = (outcome: (typeof outcomes)[number]) => Metric.tagged(fetches, "outcome", outcome)

const ended = (outcome: (typeof outcomes)[number]) => Metric.increment(ofOutcome(outcome))

/** Starts the counts at 0 before the first fetch: an alert on a missing number never fires. */
export const beginCounts = Effect.all([
  ...outcomes.map((outcome) => Metric.incrementBy(ofOutcome(outcome), 0)),
  Metric.incrementBy(lastSuccess, 0)
])

export const setRecords = (source: string, count: number) =>
  Metric.set(Metric.tagged(records, "source", source), count)

export const countVersions = (store: VersionStore["Type"]) =>
  Effect.flatMap(store.versions, ({ length }) => Metric.set(versions, length))
