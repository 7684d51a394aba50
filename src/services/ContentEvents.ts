/**
 * The events of the content plugin (docs/wire.md, sections 2.7 and 6).
 *
 * Programs that follow a fetch, in this process or in another, decode events here.
 */
import * as Schema from "effect/Schema"
import { contentCounts } from "../internal/contentCounts.ts"
import { SerializedError } from "../internal/SerializedError.ts"
import { optional, timestamp } from "../internal/schemas.ts"
import { AskedScreen, TakenByScreen } from "./AskedScreen.ts"
import { ComparedVersion } from "./ContentDiff.ts"
import { FetchedAttachments, SourceProgress } from "./ContentSource.ts"
import { Hold, KeptSource, Manifest } from "./VersionStore.ts"
import { Violation } from "./Violation.ts"
import { Warning } from "./Warning.ts"

const durationMs = Schema.NonNegativeInt
const sourceId = Schema.String

/**
 * The result of a fetch; also the result of `content.fetch`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const FetchOutcome = Schema.Struct({
  timestamp,
  /** Whether a new version was promoted. `false` while the active version is held: new versions wait. */
  changed: Schema.Boolean,
  /** The active version. */
  versionId: Schema.String,
  /** Missing if the active version is not held. */
  held: optional(Hold),
  ...contentCounts,
  /**
   * The independent sources that failed: the version has their content from before. Missing if there are none.
   */
  kept: optional(Schema.Array(KeptSource)),
  durationMs
})
export type FetchOutcome = typeof FetchOutcome.Type

/**
 * A fetch that failed; the payload of `content:fetch:error`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const FetchFailure = Schema.Struct({ timestamp, error: SerializedError })

/**
 * The result of fetching a source; the payload of `content:source:done`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SourceOutcome = Schema.Struct({
  timestamp,
  sourceId,
  ...contentCounts,
  /** The size of all saved files in bytes, reused files included. */
  bytes: Schema.NonNegativeInt,
  attachments: optional(FetchedAttachments),
  /** Problems for the editors of the content. */
  warnings: optional(Schema.Array(Warning)),
  durationMs
})
export type SourceOutcome = typeof SourceOutcome.Type

const event = <Name extends string, A extends object>(name: Name, payload: Schema.Schema<A>) =>
  Schema.Struct({ name: Schema.Literal(name), payload })

/**
 * The events of content, by name, with their payloads (docs/wire.md, section 6).
 *
 * @since 0.1.0
 * @category schemas
 */
export const ContentEvent = Schema.Union(
  /** The active version: when the controller is ready, and whenever another version becomes active. */
  event("content:version:promoted", Manifest.pick("versionId", "versionPath", "generatedAt")),
  /** The changes in the active version, some time after its announcement; not at the start. */
  event("content:version:compared", ComparedVersion),
  /** The active version stays, because the content of a source does not meet the expectations. At each such fetch. */
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
  event("content:source:error", Schema.Struct({ timestamp, sourceId, error: SerializedError })),
  /** A content server has a new build of its page. */
  event("content:page:built", Schema.Struct({ build: Schema.String })),
  /** Somebody asks a screen for an action: the screen is to renew its ack, and the answer contains the action. */
  event("content:screen:asked", AskedScreen),
  /** The answer to an ack of the screen has contained the actions. */
  event("content:screen:taken", TakenByScreen)
)
export type ContentEvent = typeof ContentEvent.Type
