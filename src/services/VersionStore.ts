/**
 * A store of folders, each a version of the content: staged, promoted, leased, swept (docs/wire.md, section 9).
 *
 * Sources write files into a staged folder, and consumers read the files of a version: all paths are paths of this
 * machine. It owns the downloads folder. The content plugin decides when to fetch and whom to notify.
 *
 * ```
 * manifest.json                    names the active version, and says whether it is held; replaced as a whole
 * versions/<versionId>/<source>/…  immutable once promoted
 * versions/<versionId>/files.json  all files of the version, with their sizes and digests
 * acks/<consumerId>.json           leases of consumers that still show a version
 * .staging/…                       what is being fetched; emptied at every start
 * .reserve                         room for a manifest if the disk is full
 * ```
 */

import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { contentCounts, type KnownCounts } from "../internal/contentCounts.ts"
import type { RecordKey } from "../internal/recordKey.ts"
import { OptionalErrorChain } from "../internal/SerializedError.ts"
import { optional, versionTime } from "../internal/schemas.ts"
import { type PreviousContent, Sha256, type SourceFile } from "./ContentSource.ts"

/**
 * UTC in compact form, `20261121T093000Z`; `-01`, `-02`, … are further versions of the same second.
 *
 * @since 0.1.0
 * @category schemas
 */
export const VersionId = Schema.String.pipe(
  Schema.pattern(/^\d{8}T\d{6}Z(-\d{2})?$/),
  Schema.filter((id) => !Number.isNaN(versionTime(id)) || "not a time")
)
export type VersionId = typeof VersionId.Type

/**
 * The active version stays until somebody releases another version, or resumes. New versions are made, and wait.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Hold = Schema.Struct({
  /** ISO 8601, UTC, with milliseconds. */
  since: Schema.String,
  /** Who holds it, for people; one line of 64 characters at most. */
  by: optional(Schema.String),
  /** Present if no person holds it: versions are released by hand, and a version has been waiting since then. */
  byRule: optional(Schema.Literal(true)),
  /** When the hold ends by itself, as with `content.resume`; ISO 8601, UTC. Missing if somebody has to end it. */
  until: optional(Schema.String),
  /** The latest version, which becomes active when the hold ends. Missing if the active version is the latest. */
  waiting: optional(VersionId),
  /** The held version that is no longer on disk: the active version is held in its place. */
  lost: optional(VersionId)
})
export type Hold = typeof Hold.Type

/**
 * Somebody has made the waiting version active.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Released = Schema.Struct({
  /** ISO 8601, UTC, with milliseconds. */
  at: Schema.String,
  /** For people; one line of 64 characters at most. Missing if the end of a hold released it. */
  by: optional(Schema.String),
  /** The end of the hold that released it, in ISO 8601, UTC. */
  until: optional(Schema.String)
})
export type Released = typeof Released.Type

/**
 * The most sources that a version has.
 *
 * @since 0.1.0
 * @category utils
 */
export const maxSources = 1000

/**
 * The content of `manifest.json`. Paths are relative and have forward slashes.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Manifest = Schema.Struct({
  schemaVersion: Schema.Literal(1),
  versionId: VersionId,
  versionPath: Schema.String,
  /** ISO 8601, UTC, with milliseconds. */
  generatedAt: Schema.String,
  sources: Schema.Array(Schema.Struct({ sourceId: Schema.String, path: Schema.String })).pipe(
    Schema.maxItems(maxSources)
  ),
  /** The digest of the version's `files.json`. Missing if an older Vitrine made the version. */
  filesSha256: optional(Sha256),
  /** Missing if the active version is not held. */
  held: optional(Hold),
  /** Missing if the active version did not wait to be released. */
  released: optional(Released)
})
export interface Manifest extends Schema.Schema.Type<typeof Manifest> {}

/**
 * The result of `content.manifest.read`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ManifestState = Schema.Union(
  Schema.Struct({ status: Schema.Literal("ok"), manifest: Manifest }),
  Schema.Struct({ status: Schema.Literal("missing") }),
  Schema.Struct({ status: Schema.Literal("invalid"), message: Schema.String })
)
export type ManifestState = typeof ManifestState.Type

/**
 * A source that could not be fetched for a version: the version has the content of the source from before.
 *
 * @since 0.1.0
 * @category schemas
 */
export const KeptSource = Schema.Struct({
  sourceId: Schema.String,
  /** Since when it fails; ISO 8601, UTC, with milliseconds. */
  since: Schema.String,
  /** Why it fails, without its name; missing where only the version is known. */
  message: optional(Schema.String)
})
export type KeptSource = typeof KeptSource.Type

/**
 * A source as part of a version.
 *
 * @since 0.1.0
 * @category models
 */
export interface VersionSource extends KnownCounts {
  readonly sourceId: string
  readonly fingerprint: string
  /** As in `FetchedSource`. */
  readonly digests?: Readonly<Record<string, string>> | undefined
  /** The keys of the records in documents, by the paths of the documents, if the key is not `id`. */
  readonly keys?: Readonly<Record<string, RecordKey>> | undefined
  /** Since when it fails, if it could not be fetched for this version; ISO 8601, UTC, with milliseconds. */
  readonly keptSince?: string | undefined
}

/**
 * A file of a version of another controller.
 *
 * @since 0.1.0
 * @category models
 */
export interface CopiedFile extends SourceFile {
  readonly sourceId: string
  /** Its path in the folder of the source, with forward slashes, as in a `FileList`. */
  readonly path: string
}

/**
 * A version of another controller.
 *
 * @since 0.1.0
 * @category models
 */
export interface VersionCopy {
  readonly manifest: Manifest
  /** The text of its `files.json`. */
  readonly fileList: string
  /**
   * Sizes of files in it that are durable already, by their paths with forward slashes. These files are not checked
   * again. Default none.
   */
  readonly durable?: ReadonlyMap<string, number> | undefined
}

/**
 * A version that is still incomplete. It is discarded with its scope unless it is promoted.
 *
 * @since 0.1.0
 * @category models
 */
export interface StagedVersion {
  /** Makes the folder of a source and returns its absolute path. */
  readonly sourceDirectory: (sourceId: string) => Effect.Effect<string, VersionStoreError>

  /** The content of a source in the latest version, if the source is part of it. The folder must not be changed. */
  readonly previous: (sourceId: string) => Option.Option<PreviousContent>

  /** The ids of the sources of the latest version. */
  readonly previousIds: ReadonlyArray<string>

  /**
   * The files that a source has put into its folder, by their paths in it with forward slashes. Fails, as `promote`
   * does, if some cannot be stored on all systems.
   */
  readonly files: (
    source: VersionSource
  ) => Effect.Effect<Readonly<Record<string, SourceFile>>, VersionStoreError>

  /**
   * Makes it the latest version: durable on disk first, then named by the manifest in one step. It becomes active, or
   * waits while another version is held.
   *
   * If a source has the fingerprint of `previous`, it has not changed: its folder there is reused, and its
   * `sourceDirectory` is not used. If no source has changed, nothing is promoted.
   */
  readonly promote: (sources: ReadonlyArray<VersionSource>) => Effect.Effect<Promotion, VersionStoreError>
}

/**
 * A version of another controller that is still incomplete. It is discarded with its scope unless it is promoted.
 *
 * @since 0.1.0
 * @category models
 */
export interface StagedCopy extends Pick<StagedVersion, "sourceDirectory"> {
  /**
   * Reuses files by their content from any version on disk, from any path, into the folders of their sources. Returns
   * the files that no version has. Call it for all files of the version at once, before anything else is put there.
   */
  readonly reuse: (
    files: ReadonlyArray<CopiedFile>
  ) => Effect.Effect<ReadonlyArray<CopiedFile>, VersionStoreError>

  /**
   * Makes it the latest version, as a `StagedVersion` does, with the id and the `files.json` of the original. All
   * files of the list must be there with their sizes, and no others; the caller makes sure that their content is
   * right.
   *
   * If the same version is on disk, its files are replaced one by one. A version with the same id and another list is
   * an error: versions never change.
   */
  readonly promote: (copy: VersionCopy) => Effect.Effect<Promotion, VersionStoreError>

  /**
   * Keeps it on disk beside the active version, durable as after `promote`, for `activate`. It neither becomes active
   * nor waits.
   */
  readonly keep: (copy: VersionCopy) => Effect.Effect<void, VersionStoreError>
}

/**
 * The result of promoting a staged version.
 *
 * @since 0.1.0
 * @category models
 */
export interface Promotion {
  /** Whether there is a new latest version, active or waiting. */
  readonly changed: boolean
  /** The active version, new or old. */
  readonly manifest: Manifest
}

/**
 * The contents of a version.
 *
 * @since 0.1.0
 * @category schemas
 */
export const VersionSummary = Schema.Struct({
  /** ISO 8601, UTC, with milliseconds. */
  generatedAt: Schema.String,
  sources: Schema.Array(
    Schema.Struct({
      sourceId: Schema.String,
      records: optional(Schema.NonNegativeInt),
      values: contentCounts.values,
      files: Schema.NonNegativeInt,
      /** The size of its files in bytes. */
      bytes: Schema.NonNegativeInt,
      /** Since when it failed when the version was made; missing if it did not. */
      keptSince: optional(Schema.String)
    })
  )
})
export type VersionSummary = typeof VersionSummary.Type

/**
 * A file of a version that differs from the file list.
 *
 * @since 0.1.0
 * @category schemas
 */
export const FileProblem = Schema.Struct({
  /** In the folder of the version, with forward slashes. */
  path: Schema.String,
  /** `content`: the same size with other content. `unexpected`: a file that is not in the list of files. */
  problem: Schema.Literal("missing", "size", "content", "unreadable", "unexpected")
})
export type FileProblem = typeof FileProblem.Type

/**
 * The result of reading all files of a version.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Verification = Schema.Struct({
  versionId: VersionId,
  /** How many files it has. */
  files: Schema.NonNegativeInt,
  /** Their total size in bytes. */
  bytes: Schema.NonNegativeInt,
  /** Empty if the version is complete. */
  problems: Schema.Array(FileProblem)
})
export type Verification = typeof Verification.Type

/**
 * Who asks, on one line of 64 characters, and for which version. Without a version, `hold` uses the active version
 * and `release` the waiting version.
 *
 * @since 0.1.0
 * @category models
 */
export interface HoldRequest {
  readonly by?: string | undefined
  readonly versionId?: string | undefined
  /** When the hold ends by itself; ISO 8601, UTC. */
  readonly until?: string | undefined
}

/**
 * A hold cannot have this end.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidHoldEnd extends Schema.TaggedError<InvalidHoldEnd>()("vitrine/InvalidHoldEnd", {
  until: Schema.String
}) {
  override get message() {
    return `A hold cannot end at ${JSON.stringify(this.until)}: give a time within the next year, for example "2026-12-01 09:00", "18:00" or "2 hours".`
  }
}

/**
 * The result of a rollback, a hold, its end or a release.
 *
 * @since 0.1.0
 * @category schemas
 */
export const HoldOutcome = Schema.Struct({
  /** The active version. */
  versionId: VersionId,
  /** Whether another version was active before. */
  changed: Schema.Boolean,
  /** Missing if it is not held. */
  held: optional(Hold),
  /** The sources that could not be fetched for the active version; missing if there are none. */
  kept: optional(Schema.Array(KeptSource))
})
export type HoldOutcome = typeof HoldOutcome.Type

/**
 * The most consumers known at a time: consumers with a lease, expected consumers, and consumers with their own
 * stream.
 *
 * @since 0.1.0
 * @category utils
 */
export const maxConsumers = 256

/**
 * A consumer shows a version.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Lease = Schema.Struct({
  consumerId: Schema.String,
  versionId: VersionId,
  /** When it ends unless it is renewed, in milliseconds since 1970. */
  until: Schema.Number,
  /** When it was taken or last renewed, in milliseconds since 1970. */
  heardAt: Schema.Number,
  /**
   * Whether the consumer closes, or has not reported for too long: the version is kept, but no longer counts as shown
   * by it.
   */
  isSilent: Schema.Boolean,
  /** What the consumer could not show; one line of 500 characters at most. Missing if it is silent. */
  problem: optional(Schema.String),
  /** When the problem was first reported, in milliseconds since 1970. */
  problemSince: optional(Schema.Number)
})
export type Lease = typeof Lease.Type

/**
 * The content of an ack, beside the version that the consumer shows.
 *
 * @since 0.1.0
 * @category schemas
 */
export const AckDetails = Schema.Struct({
  /** What it cannot show of the version. */
  problem: optional(Schema.String),
  /** How often it renews the lease, in milliseconds; default ten minutes. */
  renewMs: optional(Schema.Positive),
  /** Whether people could see it: no other window is in front of it. */
  visible: optional(Schema.Boolean),
  /** Whether it has drawn frames since its last ack. */
  drawing: optional(Schema.Boolean),
  /** Random, the same until the page or program ends. It tells two runs with the same id apart. */
  runId: optional(Schema.String),
  /**
   * Whether a link of its site led to it, or it was asked to load again: then it is no restart if the run before has
   * closed.
   */
  navigated: optional(Schema.Boolean),
  /** Whether it is about to end. Then the ack says nothing else except which run it is. */
  closing: optional(Schema.Boolean)
})
export type AckDetails = typeof AckDetails.Type

/**
 * A consumer with a fresh lease, by its last report. Times are in milliseconds since 1970.
 *
 * @since 0.1.0
 * @category models
 */
export interface Consumer
  extends Omit<AckDetails, "closing" | "navigated" | "runId">,
    Pick<Lease, "consumerId" | "versionId" | "heardAt" | "until"> {
  /** Since when it is known to show this version. */
  readonly shownSince: number
  /** When the problem was first reported; missing if there is none. */
  readonly problemSince?: number | undefined
  /** Since when it is not visible or does not draw; missing if it is visible and draws. */
  readonly hiddenSince?: number | undefined
  /** When it said that it closes; missing if it has reported since. */
  readonly closedAt?: number | undefined
  /** The pages or programs that use its id at once, the oldest first; missing if there are no two. */
  readonly runs?:
    | ReadonlyArray<{
        readonly since: number
        readonly heardAt: number
        readonly visible?: boolean | undefined
      }>
    | undefined
  /** How often it has restarted in the last ten minutes; missing if it has not. */
  readonly restarts?: number | undefined
}

/**
 * A version on disk, and why it is kept.
 *
 * @since 0.1.0
 * @category schemas
 */
export const VersionOverview = Schema.Struct({
  versionId: VersionId,
  active: Schema.Boolean,
  /** Whether it is the latest version, while another version is held. */
  isWaiting: Schema.Boolean,
  /** The fresh leases on it. */
  leases: Schema.Array(Lease),
  /** Whether somebody has read it in the last two minutes. */
  isRead: Schema.Boolean
})
export type VersionOverview = typeof VersionOverview.Type

/**
 * All versions on disk, the oldest first, with their contents if these are known; the result of `content.versions`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const VersionsReport = Schema.Struct({
  /** Missing if the active version is not held. */
  held: optional(Hold),
  /** Missing if the active version did not wait to be released. */
  released: optional(Released),
  versions: Schema.Array(
    VersionOverview.pipe(
      Schema.extend(Schema.partialWith(VersionSummary, { exact: true })),
      Schema.extend(
        Schema.Struct({
          /**
           * The changes since the version before, in words, for the latest three versions if the comparison needs
           * little reading. Empty if no record and no other file differs.
           */
          changes: optional(Schema.Array(Schema.String))
        })
      )
    )
  )
})
export type VersionsReport = typeof VersionsReport.Type

/**
 * The versions of some content. One of them is active.
 *
 * @since 0.1.0
 * @category tags
 */
export class VersionStore extends Context.Tag("vitrine/VersionStore")<
  VersionStore,
  {
    /**
     * The absolute path of the folder that the `versionPath` of a manifest is relative to. A replica keeps unfinished
     * downloads in it over restarts, in `.partial`.
     */
    readonly directory: string

    /** The manifest as it is now. A manifest that names a missing version is invalid. */
    readonly manifest: Effect.Effect<ManifestState, VersionStoreError>

    readonly stage: Effect.Effect<StagedVersion, VersionStoreError, Scope.Scope>

    readonly stageCopy: Effect.Effect<StagedCopy, VersionStoreError, Scope.Scope>

    /**
     * Makes a complete version on disk the latest, as `promote` does, and returns the manifest. Consumers are not
     * notified.
     */
    readonly activate: (versionId: string) => Effect.Effect<Manifest, VersionStoreError | VersionNotFound>

    /**
     * Holds the active version until `resume`, over restarts. If another version is given, complete and on disk, it
     * becomes active in the same step. An existing hold stays if its version does, except its end, if another end is
     * given.
     */
    readonly hold: (request: HoldRequest) => Effect.Effect<Manifest, VersionStoreError | VersionNotFound>

    /**
     * Makes the waiting version, or another complete version on disk, active in one step. A hold stays, and so does the
     * rule that versions are released by hand. Without either, only the active version can be released.
     */
    readonly release: (request: HoldRequest) => Effect.Effect<Manifest, VersionStoreError | VersionNotFound>

    /**
     * Ends the hold. If a later version waits, it becomes active in the same step. If this version is damaged,
     * `resume` fails and the hold stays.
     */
    readonly resume: (
      request: Pick<HoldRequest, "by"> & {
        /**
         * Ends only a hold that ends by itself at this time or before, in milliseconds since 1970. Any other hold
         * stays.
         */
        readonly dueAt?: number | undefined
      }
    ) => Effect.Effect<Manifest, VersionStoreError | VersionNotFound>

    /** The contents of a version; `None` if its `files.json` is missing or cannot be read. */
    readonly summarize: (
      versionId: string
    ) => Effect.Effect<Option.Option<VersionSummary>, VersionStoreError | VersionNotFound>

    /**
     * Takes or renews a consumer's lease on a version. A `closing` consumer takes no lease: its existing lease, on
     * any version, ends when two renewals are missing, after two minutes at least, unless it is renewed. Gives the
     * consumer; `None` if it has no lease.
     */
    readonly acknowledge: (
      consumerId: string,
      versionId: string,
      details?: AckDetails
    ) => Effect.Effect<
      Option.Option<Consumer>,
      VersionStoreError | InvalidConsumerId | VersionNotFound | TooManyLeases
    >

    /**
     * The consumers that have reported last, at most 256, as known at the last ack or the last read of `versions`.
     * Does not read the disk.
     */
    readonly consumers: Effect.Effect<ReadonlyArray<Consumer>>

    /**
     * Keeps a version from being swept for two minutes, in memory only: somebody reads it. At most four versions are
     * kept for this reason alone: the versions that have been read for longest, and among equals the newest.
     */
    readonly keep: (versionId: string) => Effect.Effect<void, VersionStoreError | VersionNotFound>

    /**
     * Reads all files of a version, by default of the active version, and compares them with its `files.json`. One
     * version at a time; others wait. The next promoted version reuses nothing from a version with problems.
     */
    readonly verify: (versionId?: string) => Effect.Effect<Verification, VersionStoreError | VersionNotFound>

    /** All versions on disk, the oldest first. */
    readonly versions: Effect.Effect<ReadonlyArray<VersionOverview>, VersionStoreError>

    /** Removes versions that need not be kept, and returns their ids. */
    readonly sweep: Effect.Effect<ReadonlyArray<VersionId>, VersionStoreError>

    /** As `sweep`, for a full disk: versions are not kept for being new or for being read. */
    readonly evict: Effect.Effect<ReadonlyArray<VersionId>, VersionStoreError>
  }
>() {}

/**
 * The downloads folder could not be read or written.
 *
 * @since 0.1.0
 * @category errors
 */
export class VersionStoreError extends Schema.TaggedError<VersionStoreError>()("vitrine/VersionStoreError", {
  /** What was tried, as in "cannot …". */
  action: Schema.String,
  path: Schema.String,
  /** The message of the system and, if it is known, what to do. */
  detail: Schema.String,
  /**
   * Whether the same action may succeed later: another program has a file open, the disk has a short failure, or it is
   * full until somebody frees it. Default `false`.
   */
  isTransient: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  cause: OptionalErrorChain
}) {
  override get message() {
    return `Cannot ${this.action} ${this.path}: ${this.detail}`
  }
}

/**
 * Whether versions are staged only for a look: then the downloads folder may belong to another controller, and only
 * staged versions are written there.
 *
 * @since 0.1.0
 * @category errors
 */
export class SavesNothing extends Context.Reference<SavesNothing>()("vitrine/SavesNothing", {
  defaultValue: (): boolean => false
}) {}

/**
 * Another controller works in the downloads folder, or another plugin of this controller.
 *
 * @since 0.1.0
 * @category errors
 */
export class DownloadsInUse extends Schema.TaggedError<DownloadsInUse>()("vitrine/DownloadsInUse", {
  path: Schema.String,
  /** The process that uses it, if known. */
  owner: Schema.String,
  /** Whether this process uses it. */
  isOwn: Schema.optionalWith(Schema.Boolean, { default: () => false })
}) {
  override get message() {
    return this.isOwn
      ? `The downloads folder ${this.path} is in use in this process already: another plugin of this configuration has this "downloadPath". Set "downloadPath" to another folder.`
      : `The downloads folder ${this.path} is in use by another controller (${this.owner}). Stop the other controller first, or set "downloadPath" to another folder.`
  }
}

/**
 * An acknowledgement under an id that is no plain file name.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidConsumerId extends Schema.TaggedError<InvalidConsumerId>()("vitrine/InvalidConsumerId", {
  consumerId: Schema.String
}) {
  override get message() {
    return `The consumerId ${JSON.stringify(this.consumerId)} cannot be used: it must be one plain file name, such as "screen-1".`
  }
}

/**
 * The number of leases is at its limit.
 *
 * @since 0.1.0
 * @category errors
 */
export class TooManyLeases extends Schema.TaggedError<TooManyLeases>()("vitrine/TooManyLeases", {
  limit: Schema.Number,
  /** How long a lease lasts, for people. */
  lease: Schema.String
}) {
  override get message() {
    return `${this.limit} screens keep a version, which is the limit. Give every screen one consumerId that stays the same when its page reloads; a screen that has not reported for ${this.lease} keeps no version.`
  }
}

/**
 * The version is not on disk: it never was, or it was swept.
 *
 * @since 0.1.0
 * @category errors
 */
export class VersionNotFound extends Schema.TaggedError<VersionNotFound>()("vitrine/VersionNotFound", {
  versionId: Schema.String
}) {
  override get message() {
    return `There is no version ${JSON.stringify(this.versionId)} on disk. "vitrine versions" lists them, and the manifest names the active version.`
  }
}

/**
 * There is no version on disk to go back to.
 *
 * @since 0.1.0
 * @category errors
 */
export class CannotRollBack extends Schema.TaggedError<CannotRollBack>()("vitrine/CannotRollBack", {
  /** What is missing. */
  detail: Schema.String,
  /** The versions on disk, the oldest first. */
  versions: Schema.Array(VersionId)
}) {
  override get message() {
    const versions = this.versions.length === 0 ? "no versions" : this.versions.join(", ")
    return `Cannot roll back: ${this.detail}. On disk: ${versions}.`
  }
}
