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
export interface FetchOutcome extends Schema.Schema.Type<typeof FetchOutcome> {}

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
export interface SourceOutcome extends Schema.Schema.Type<typeof SourceOutcome> {}

const event = <Name extends string, A extends object>(name: Name, payload: Schema.Schema<A>) =>
  Schema.Struct({ name: Schema.Literal(name), payload })

/**
 * The active version: when the controller is ready, and whenever another version becomes active.
 *
 * @since 0.1.0
 * @category schemas
 */
export const VersionPromoted = event(
  "content:version:promoted",
  Manifest.pick("versionId", "versionPath", "generatedAt")
)
export interface VersionPromoted extends Schema.Schema.Type<typeof VersionPromoted> {}

/**
 * The changes in the active version, some time after its announcement; not at the start.
 *
 * @since 0.1.0
 * @category schemas
 */
export const VersionCompared = event("content:version:compared", ComparedVersion)
export interface VersionCompared extends Schema.Schema.Type<typeof VersionCompared> {}

/**
 * The active version stays, because the content of a source does not meet the expectations. At each such fetch.
 *
 * @since 0.1.0
 * @category schemas
 */
export const VersionRejected = event(
  "content:version:rejected",
  Schema.Struct({
    timestamp,
    sourceId,
    error: SerializedError,
    /** Ten at most; the message of the error says how many more there are. */
    violations: Schema.NonEmptyArray(Violation)
  })
)
export interface VersionRejected extends Schema.Schema.Type<typeof VersionRejected> {}

/**
 * A fetch begins.
 *
 * @since 0.1.0
 * @category schemas
 */
export const FetchStarted = event("content:fetch:start", Schema.Struct({ timestamp }))
export interface FetchStarted extends Schema.Schema.Type<typeof FetchStarted> {}

/**
 * A fetch has succeeded.
 *
 * @since 0.1.0
 * @category schemas
 */
export const FetchDone = event("content:fetch:done", FetchOutcome)
export interface FetchDone extends Schema.Schema.Type<typeof FetchDone> {}

/**
 * A fetch has failed.
 *
 * @since 0.1.0
 * @category schemas
 */
export const FetchFailed = event("content:fetch:error", FetchFailure)
export interface FetchFailed extends Schema.Schema.Type<typeof FetchFailed> {}

/**
 * The fetch of a source begins.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SourceStarted = event("content:source:start", Schema.Struct({ timestamp, sourceId }))
export interface SourceStarted extends Schema.Schema.Type<typeof SourceStarted> {}

/**
 * The progress of the fetch of a source.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SourceProgressed = event(
  "content:source:progress",
  Schema.Struct({ sourceId, ...SourceProgress.fields })
)
export interface SourceProgressed extends Schema.Schema.Type<typeof SourceProgressed> {}

/**
 * A source was fetched.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SourceDone = event("content:source:done", SourceOutcome)
export interface SourceDone extends Schema.Schema.Type<typeof SourceDone> {}

/**
 * A source could not be fetched.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SourceFailed = event(
  "content:source:error",
  Schema.Struct({ timestamp, sourceId, error: SerializedError })
)
export interface SourceFailed extends Schema.Schema.Type<typeof SourceFailed> {}

/**
 * A content server has a new build of its page.
 *
 * @since 0.1.0
 * @category schemas
 */
export const PageBuilt = event("content:page:built", Schema.Struct({ build: Schema.String }))
export interface PageBuilt extends Schema.Schema.Type<typeof PageBuilt> {}

/**
 * Somebody asks a screen for an action: the screen is to renew its ack, and the answer contains the action.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ScreenAsked = event("content:screen:asked", AskedScreen)
export interface ScreenAsked extends Schema.Schema.Type<typeof ScreenAsked> {}

/**
 * The answer to an ack of the screen has contained the actions.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ScreenTaken = event("content:screen:taken", TakenByScreen)
export interface ScreenTaken extends Schema.Schema.Type<typeof ScreenTaken> {}

/**
 * The events of content, by name, with their payloads (docs/wire.md, section 6).
 *
 * @since 0.1.0
 * @category schemas
 */
export const ContentEvent = Schema.Union(
  VersionPromoted,
  VersionCompared,
  VersionRejected,
  FetchStarted,
  FetchDone,
  FetchFailed,
  SourceStarted,
  SourceProgressed,
  SourceDone,
  SourceFailed,
  PageBuilt,
  ScreenAsked,
  ScreenTaken
)
export type ContentEvent =
  | VersionPromoted
  | VersionCompared
  | VersionRejected
  | FetchStarted
  | FetchDone
  | FetchFailed
  | SourceStarted
  | SourceProgressed
  | SourceDone
  | SourceFailed
  | PageBuilt
  | ScreenAsked
  | ScreenTaken
