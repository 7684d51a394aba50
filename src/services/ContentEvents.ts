/**
 * The events of the content plugin (docs/wire.md, sections 2.7 and 6).
 *
 * Those who follow a fetch, in this process or in another, decode them here.
 */
import * as Schema from "effect/Schema"
import { SerializedError } from "../internal/SerializedError.ts"
import { FetchedAttachments, SourceProgress } from "./ContentSource.ts"
import { Hold, Manifest, VersionOverview } from "./VersionStore.ts"
import { Violation } from "./Violation.ts"

/** ISO 8601, UTC, with milliseconds. */
const timestamp = Schema.String
const durationMs = Schema.NonNegativeInt
const sourceId = Schema.String

/** What a fetch came to; the result of `content.fetch`, too. */
export const FetchOutcome = Schema.Struct({
  timestamp,
  /** Whether a new version was promoted. While the active one is held, new ones wait: this is `false`. */
  changed: Schema.Boolean,
  /** The active version. */
  versionId: Schema.String,
  /** Missing where it is not held. */
  held: Schema.optionalWith(Hold, { exact: true }),
  records: Schema.NonNegativeInt,
  durationMs
})
export type FetchOutcome = typeof FetchOutcome.Type

const FetchFailure = Schema.Struct({ timestamp, error: SerializedError })

/** What became of a source that was fetched; the payload of `content:source:done`. */
export const SourceOutcome = Schema.Struct({
  timestamp,
  sourceId,
  records: Schema.NonNegativeInt,
  /** The size of everything that was saved, files taken over included. */
  bytes: Schema.NonNegativeInt,
  attachments: Schema.optionalWith(FetchedAttachments, { exact: true }),
  /** What the editors of the content should look at. */
  warnings: Schema.optionalWith(Schema.Array(Schema.String), { exact: true }),
  durationMs
})
export type SourceOutcome = typeof SourceOutcome.Type

const SourceState = Schema.Struct({
  /** How far a fetch has come that runs now. */
  progress: Schema.optionalWith(SourceProgress, { exact: true }),
  lastSuccess: Schema.optionalWith(SourceOutcome, { exact: true }),
  /** Of the last time that it failed, even if it has succeeded since. */
  lastError: Schema.optionalWith(Schema.Struct({ timestamp, message: Schema.String }), { exact: true }),
  /** What the source itself has to say, of a table source its calls, for example. */
  data: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.Unknown }), { exact: true })
})

/** The content plugin's slice of the state. Its times are those of this run of the controller. */
export const ContentState = Schema.Struct({
  /** The active version, where there is one. */
  versionId: Schema.optionalWith(Schema.String, { exact: true }),
  /** When the active version was made. */
  generatedAt: Schema.optionalWith(timestamp, { exact: true }),
  /** Missing where it is not held. */
  held: Schema.optionalWith(Hold, { exact: true }),
  /** When the fetch began that runs now; missing where none does. */
  fetchingSince: Schema.optionalWith(timestamp, { exact: true }),
  /** Absent before the first fetch has ended. */
  lastFetch: Schema.optionalWith(Schema.Union(FetchOutcome, FetchFailure), { exact: true }),
  /** When a fetch last succeeded. */
  lastSuccess: Schema.optionalWith(timestamp, { exact: true }),
  /** When the first one failed of those that have failed since; missing where the last one did not. */
  failingSince: Schema.optionalWith(timestamp, { exact: true }),
  /** Or look whether there is something to fetch. Missing while a fetch runs, and where none is planned. */
  nextFetch: Schema.optionalWith(
    Schema.Struct({
      at: timestamp,
      /** Whether it is because the last one failed. */
      isRetry: Schema.Boolean
    }),
    { exact: true }
  ),
  /** What is not as expected, since the first fetch of which a version was rejected, until one succeeds. */
  rejection: Schema.optionalWith(
    Schema.Struct({ since: timestamp, sourceId, violations: Schema.Array(Violation) }),
    { exact: true }
  ),
  /** By their ids. */
  sources: Schema.Record({ key: Schema.String, value: SourceState }),
  /**
   * On disk, the oldest first, with their leases: as they were at the last fetch, ack or command that changed them. Absent until
   * the controller is ready.
   */
  versions: Schema.optionalWith(Schema.Array(VersionOverview), { exact: true })
})
export type ContentState = typeof ContentState.Type

const event = <Name extends string, A extends object>(name: Name, payload: Schema.Schema<A>) =>
  Schema.Struct({ name: Schema.Literal(name), payload })

/** The events of content, by name, with their payloads (docs/wire.md, section 6). */
export const ContentEvent = Schema.Union(
  /** The active version, when the controller is ready and whenever another one is made the active one. */
  event("content:version:promoted", Manifest.pick("versionId", "versionPath", "generatedAt")),
  /** The active version stays, because what a source gave is not as expected. At each such fetch. */
  event(
    "content:version:rejected",
    Schema.Struct({
      timestamp,
      sourceId,
      error: SerializedError,
      /** Ten at most; the message of the error says how many more there are. */
      violations: Schema.NonEmptyArray(Violation)
    })
  ),
  event("content:fetch:start", Schema.Struct({ timestamp })),
  event("content:fetch:done", FetchOutcome),
  event("content:fetch:error", FetchFailure),
  event("content:source:start", Schema.Struct({ timestamp, sourceId })),
  event("content:source:progress", Schema.Struct({ sourceId, ...SourceProgress.fields })),
  event("content:source:done", SourceOutcome),
  event("content:source:error", Schema.Struct({ timestamp, sourceId, error: SerializedError }))
)
export type ContentEvent = typeof ContentEvent.Type
