/**
 * The events of the content plugin (docs/wire.md, sections 2.7 and 6).
 *
 * Those who follow a fetch, in this process or in another, decode them here.
 */
import * as Schema from "effect/Schema"
import { contentCounts } from "../internal/contentCounts.ts"
import { SerializedError } from "../internal/SerializedError.ts"
import { optional, timestamp } from "../internal/schemas.ts"
import { ComparedVersion } from "./ContentDiff.ts"
import { FetchedAttachments, SourceProgress } from "./ContentSource.ts"
import { AskedScreen, TakenByScreen } from "./ScreenActions.ts"
import { Hold, Manifest } from "./VersionStore.ts"
import { Violation } from "./Violation.ts"

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
  held: optional(Hold),
  ...contentCounts,
  durationMs
})
export type FetchOutcome = typeof FetchOutcome.Type

/** A fetch that failed; the payload of `content:fetch:error`. */
export const FetchFailure = Schema.Struct({ timestamp, error: SerializedError })

/** What became of a source that was fetched; the payload of `content:source:done`. */
export const SourceOutcome = Schema.Struct({
  timestamp,
  sourceId,
  ...contentCounts,
  /** The size of everything that was saved, files taken over included. */
  bytes: Schema.NonNegativeInt,
  attachments: optional(FetchedAttachments),
  /** What the editors of the content should look at. */
  warnings: optional(Schema.Array(Schema.String)),
  durationMs
})
export type SourceOutcome = typeof SourceOutcome.Type

const event = <Name extends string, A extends object>(name: Name, payload: Schema.Schema<A>) =>
  Schema.Struct({ name: Schema.Literal(name), payload })

/** The events of content, by name, with their payloads (docs/wire.md, section 6). */
export const ContentEvent = Schema.Union(
  /** The active version, when the controller is ready and whenever another one is made the active one. */
  event("content:version:promoted", Manifest.pick("versionId", "versionPath", "generatedAt")),
  /** What has changed in it, some time after it was announced; not at the start. */
  event("content:version:compared", ComparedVersion),
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
  event("content:source:error", Schema.Struct({ timestamp, sourceId, error: SerializedError })),
  /** A content server has a new build of its page. */
  event("content:page:built", Schema.Struct({ build: Schema.String })),
  /** Somebody asks a screen for an action: it is to renew its ack, the answer of which says so. */
  event("content:screen:asked", AskedScreen),
  /** The answer of an ack of the screen has said it. */
  event("content:screen:taken", TakenByScreen)
)
export type ContentEvent = typeof ContentEvent.Type
