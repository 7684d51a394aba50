/**
 * A store of folders, each a version of the content: staged, promoted, leased, swept (docs/wire.md, section 9).
 *
 * Sources write files into a staged folder, and consumers read those of a version: paths are those of this machine. It
 * owns the downloads folder. When to fetch, and whom to report to, belongs to the content plugin.
 *
 * ```
 * manifest.json                    names the active version, and says whether it is held; replaced as a whole
 * versions/<versionId>/<source>/…  immutable once promoted
 * versions/<versionId>/files.json  all files of the version, with their sizes and digests
 * acks/<consumerId>.json           leases of consumers that still show a version
 * .staging/…                       what is being fetched; emptied at every start
 * .reserve                         room for a manifest where the disk is full
 * ```
 */

import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { type ContentCounts, contentCounts } from "../internal/contentCounts.ts"
import type { RecordKey } from "../internal/recordKey.ts"
import { OptionalErrorChain } from "../internal/SerializedError.ts"
import { optional } from "../internal/schemas.ts"
import { type PreviousContent, Sha256, type SourceFile } from "./ContentSource.ts"

/** UTC in compact form, `20261121T093000Z`; `-01`, `-02`, … are further versions of the same second. */
export const VersionId = Schema.String.pipe(
  Schema.pattern(/^\d{8}T\d{6}Z(-\d{2})?$/),
  Schema.filter((id) => !Number.isNaN(timeOf(id)) || "not a time")
)
export type VersionId = typeof VersionId.Type

/** The time in a version id, in milliseconds since 1970; not a number where it is none. */
export const timeOf = (id: string): number =>
  Date.parse(id.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z.*$/, "$1-$2-$3T$4:$5:$6Z"))

/** The active version stays until somebody releases another one, or resumes: newer ones are made, and wait. */
export const Hold = Schema.Struct({
  /** ISO 8601, UTC, with milliseconds. */
  since: Schema.String,
  /** Who holds it, for people; one line of 64 characters at most. */
  by: optional(Schema.String),
  /** Not held by a person: versions are released by hand, and one has been waiting since then. Missing if a person holds it. */
  byRule: optional(Schema.Literal(true)),
  /** When it ends by itself, as `content.resume` ends it; ISO 8601, UTC. Missing where somebody has to end it. */
  until: optional(Schema.String),
  /** The latest version, which becomes the active one when the hold ends. Missing where the active one is the latest. */
  waiting: optional(VersionId),
  /** The version that was held and is not on disk any more: the active one is held in its place. */
  lost: optional(VersionId)
})
export type Hold = typeof Hold.Type

/** Somebody made the version that waited the active one. */
export const Released = Schema.Struct({
  /** ISO 8601, UTC, with milliseconds. */
  at: Schema.String,
  /** For people; one line of 64 characters at most. */
  by: optional(Schema.String)
})
export type Released = typeof Released.Type

/** The most sources that a version has. */
export const maxSources = 1000

/** The content of `manifest.json`. Paths are relative and have forward slashes. */
export const Manifest = Schema.Struct({
  schemaVersion: Schema.Literal(1),
  versionId: VersionId,
  versionPath: Schema.String,
  /** ISO 8601, UTC, with milliseconds. */
  generatedAt: Schema.String,
  sources: Schema.Array(Schema.Struct({ sourceId: Schema.String, path: Schema.String })).pipe(
    Schema.maxItems(maxSources)
  ),
  /** The digest of the version's `files.json`. Missing where an older Vitrine made the version. */
  filesSha256: optional(Sha256),
  /** Missing where the active version is not held. */
  held: optional(Hold),
  /** Missing where the active version has not waited for somebody. */
  released: optional(Released)
})
export type Manifest = typeof Manifest.Type

/** What `content.manifest.read` returns. */
export type ManifestReading =
  | { readonly status: "ok"; readonly manifest: Manifest }
  | { readonly status: "missing" }
  | { readonly status: "invalid"; readonly message: string }

/** The manifest, where it names a version that is there. */
export const activeIn = (reading: ManifestReading): Option.Option<Manifest> =>
  reading.status === "ok" ? Option.some(reading.manifest) : Option.none()

/** A source as part of a version. */
export interface VersionSource extends Partial<ContentCounts> {
  readonly sourceId: string
  readonly fingerprint: string
  /** As in `FetchedSource`. */
  readonly digests?: Readonly<Record<string, string>>
  /** What identifies the records of documents, by their paths, where it is not `id`. */
  readonly keys?: Readonly<Record<string, RecordKey>>
}

/** A file of a version of another controller. */
export interface CopiedFile extends SourceFile {
  readonly sourceId: string
  /** In the folder of the source, with forward slashes, as a `FileList` has it. */
  readonly path: string
}

/** A version of another controller. */
export interface VersionCopy {
  readonly manifest: Manifest
  /** The text of its `files.json`. */
  readonly fileList: string
  /** Sizes of files in it that are durable already, by their paths with forward slashes: they are not looked at again. Default none. */
  readonly durable?: ReadonlyMap<string, number>
}

/** A version that is still being put together. It is discarded with its scope unless it was promoted. */
export interface StagedVersion {
  /** Makes the folder of a source and returns its absolute path. */
  readonly sourceDirectory: (sourceId: string) => Effect.Effect<string, VersionStoreError>

  /** What a source has in the latest version, where it is part of that. The folder must not be changed. */
  readonly previous: (sourceId: string) => Option.Option<PreviousContent>

  /**
   * The files that a source has put into its folder, by their paths in it with forward slashes. Fails where some cannot be stored on all
   * systems, as `promote` does.
   */
  readonly files: (
    source: VersionSource
  ) => Effect.Effect<Readonly<Record<string, SourceFile>>, VersionStoreError>

  /**
   * Makes it the latest version: durable on disk first, then named by the manifest in one step. It is the active one, or
   * waits while another one is held.
   *
   * A source whose fingerprint is the one in `previous` has not changed: its folder there is reused, and what is in
   * its `sourceDirectory` is not used. Where that is so for all sources, nothing is promoted.
   */
  readonly promote: (sources: ReadonlyArray<VersionSource>) => Effect.Effect<Promotion, VersionStoreError>
}

/** A version of another controller that is still being put together. It is discarded with its scope unless it was promoted. */
export interface StagedCopy extends Pick<StagedVersion, "sourceDirectory"> {
  /**
   * Reuses files by their content from any version on disk, wherever they lie there, into the folders of their sources.
   * Gives those that none has. It is for all files of the version at once, before anything else is put there.
   */
  readonly reuse: (
    files: ReadonlyArray<CopiedFile>
  ) => Effect.Effect<ReadonlyArray<CopiedFile>, VersionStoreError>

  /**
   * Makes it the latest version, as a `StagedVersion` does, under the id and with the `files.json` that it has. All files of the list must be there,
   * with their sizes, and no others; that their content is right is up to the caller.
   *
   * Where the same version is on disk, its files are replaced one by one. A version of the same id with another list is an
   * error: versions never change.
   */
  readonly promote: (copy: VersionCopy) => Effect.Effect<Promotion, VersionStoreError>

  /** Keeps it on disk beside the active one, as `promote` does, for `activate`: nothing else is shown, and nothing waits. */
  readonly keep: (copy: VersionCopy) => Effect.Effect<void, VersionStoreError>
}

/** What became of a staged version. */
export interface Promotion {
  /** Whether the latest version is another one now, also where it waits. */
  readonly changed: boolean
  /** The active version, new or old. */
  readonly manifest: Manifest
}

/** What a version is made of. */
export const VersionSummary = Schema.Struct({
  /** ISO 8601, UTC, with milliseconds. */
  generatedAt: Schema.String,
  sources: Schema.Array(
    Schema.Struct({
      sourceId: Schema.String,
      records: optional(Schema.NonNegativeInt),
      values: contentCounts.values,
      files: Schema.NonNegativeInt,
      /** The size of its files. */
      bytes: Schema.NonNegativeInt
    })
  )
})
export type VersionSummary = typeof VersionSummary.Type

/** A file of a version that is not as it was written. */
export const FileProblem = Schema.Struct({
  /** In the folder of the version, with forward slashes. */
  path: Schema.String,
  /** `content` is other content of the same size, `unexpected` a file that is not in the list of files. */
  problem: Schema.Literal("missing", "size", "content", "unreadable", "unexpected")
})
export type FileProblem = typeof FileProblem.Type

/** A version as it was found when all its files were read. */
export const Verification = Schema.Struct({
  versionId: VersionId,
  /** How many files it has. */
  files: Schema.NonNegativeInt,
  /** How large they are in all. */
  bytes: Schema.NonNegativeInt,
  /** Empty where it is whole. */
  problems: Schema.Array(FileProblem)
})
export type Verification = typeof Verification.Type

/** Who asks, on one line of 64 characters, and for which version; `hold` takes the active one where none is given, and `release` the one that waits. */
export interface HoldRequest {
  readonly by?: string
  readonly versionId?: string
  /** When the hold ends by itself; ISO 8601, UTC. */
  readonly until?: string
}

/** A hold cannot have this end. */
export class InvalidHoldEnd extends Schema.TaggedError<InvalidHoldEnd>()("vitrine/InvalidHoldEnd", {
  until: Schema.String
}) {
  override get message() {
    return `A hold cannot end at ${JSON.stringify(this.until)}: say a time in the next year, for example "2026-12-01 09:00", "18:00" or "2 hours".`
  }
}

/** What a rollback, a hold, its end or a release came to; the result of these commands. */
export const HoldOutcome = Schema.Struct({
  /** The active version. */
  versionId: VersionId,
  /** Whether another version was active before. */
  changed: Schema.Boolean,
  /** Missing where it is not held. */
  held: optional(Hold)
})
export type HoldOutcome = typeof HoldOutcome.Type

/** How many consumers are known at a time: those that hold a lease, that are expected, or that have their own stream. */
export const maxConsumers = 256

/** A consumer shows a version. */
export const Lease = Schema.Struct({
  consumerId: Schema.String,
  versionId: VersionId,
  /** When it ends unless it is renewed, in milliseconds since 1970. */
  until: Schema.Number,
  /** When it was taken or last renewed, in milliseconds since 1970. */
  heardAt: Schema.Number,
  /** Whether it closes, or was not heard of for too long: the version is kept, but counts as shown by this consumer no more. */
  isSilent: Schema.Boolean,
  /** What the consumer could not show; one line of 500 characters at most. Missing where it is silent. */
  problem: optional(Schema.String),
  /** When the problem was first heard of, in milliseconds since 1970. */
  problemSince: optional(Schema.Number)
})
export type Lease = typeof Lease.Type

/** What a consumer reports with an ack, beside the version that it shows. */
export interface AckDetails {
  /** What it cannot show of the version. */
  readonly problem?: string
  /** How often it renews the lease, in milliseconds; default ten minutes. */
  readonly renewMs?: number
  /** Whether people could see it: no other window is in front of it. */
  readonly visible?: boolean
  /** Whether it has drawn frames since its last ack. */
  readonly drawing?: boolean
  /** Random, the same until the page or program ends: two that use one name differ by it. */
  readonly runId?: string
  /** Whether a link of its site led to it, or it was asked to load again: it is no restart where the run before has closed. */
  readonly navigated?: boolean
  /** Whether it is about to end. Nothing else that the ack says counts then, but of which run it is. */
  readonly closing?: boolean
}

/** A consumer with a fresh lease, as it was last heard of. Times are in milliseconds since 1970. */
export interface Consumer
  extends Omit<AckDetails, "closing" | "navigated" | "runId">,
    Pick<Lease, "consumerId" | "versionId" | "heardAt" | "until"> {
  /** Since when it shows this version, as far as that is known: it was heard of then. */
  readonly shownSince: number
  /** When the problem was first heard of; missing where there is none. */
  readonly problemSince?: number
  /** Since when it is not visible or does not draw; missing where that is not so. */
  readonly hiddenSince?: number
  /** When it said that it closes; missing where it was heard of since. */
  readonly closedAt?: number
  /** The pages or programs that use its name at once, the oldest first; missing where there are no two. */
  readonly runs?: ReadonlyArray<{
    readonly since: number
    readonly heardAt: number
    readonly visible?: boolean
  }>
  /** How often it was started again in the last ten minutes; missing where it was not. */
  readonly restarts?: number
}

/** A version on disk, and why it is kept. */
export const VersionOverview = Schema.Struct({
  versionId: VersionId,
  active: Schema.Boolean,
  /** Whether it is the latest version, while another one is held. */
  isWaiting: Schema.Boolean,
  /** The fresh leases on it. */
  leases: Schema.Array(Lease),
  /** Whether somebody has read it in the last two minutes. */
  isRead: Schema.Boolean
})
export type VersionOverview = typeof VersionOverview.Type

/** All versions on disk, the oldest first, with what they are made of where that is known; the result of `content.versions`. */
export const VersionsReport = Schema.Struct({
  /** Missing where the active version is not held. */
  held: optional(Hold),
  /** Missing where the active version has not waited for somebody. */
  released: optional(Released),
  versions: Schema.Array(
    VersionOverview.pipe(
      Schema.extend(Schema.partialWith(VersionSummary, { exact: true })),
      Schema.extend(
        Schema.Struct({
          /**
           * What has changed since the version before, in words; of the latest three, where little has to be read for that.
           * Empty where no record and no other file is different.
           */
          changes: optional(Schema.Array(Schema.String))
        })
      )
    )
  )
})
export type VersionsReport = typeof VersionsReport.Type

/** The versions of some content, of which one is active. */
export class VersionStore extends Context.Tag("vitrine/VersionStore")<
  VersionStore,
  {
    /**
     * The absolute path of the folder that the `versionPath` of a manifest is relative to. A replica keeps unfinished
     * downloads in it over restarts, in `.partial`.
     */
    readonly directory: string

    /** What the manifest says now. A manifest that names a version that is not there is invalid. */
    readonly manifest: Effect.Effect<ManifestReading, VersionStoreError>

    readonly stage: Effect.Effect<StagedVersion, VersionStoreError, Scope.Scope>

    readonly stageCopy: Effect.Effect<StagedCopy, VersionStoreError, Scope.Scope>

    /**
     * Makes a version that is on disk, and whole, the latest one, as `promote` does, and returns the manifest. Consumers are not
     * notified of it.
     */
    readonly activate: (versionId: string) => Effect.Effect<Manifest, VersionStoreError | VersionNotFound>

    /**
     * Holds the active version until `resume`, over restarts; another one, if it is given, on disk and whole, becomes the
     * active one in the same step. A hold that there is already stays as it is where its version does, but for
     * its end, if another is given.
     */
    readonly hold: (request: HoldRequest) => Effect.Effect<Manifest, VersionStoreError | VersionNotFound>

    /**
     * Makes the version that waits, or another one that is on disk and whole, the active one in one step. A hold stays, as
     * does the rule that versions are released by hand: without either, no other version than the active one can be released.
     */
    readonly release: (request: HoldRequest) => Effect.Effect<Manifest, VersionStoreError | VersionNotFound>

    /**
     * Ends the hold: where a later version waits, it becomes the active one in the same step. It fails, and the hold
     * stays, where that version is damaged.
     */
    readonly resume: (
      request: Pick<HoldRequest, "by"> & {
        /** Ends only a hold that ends by itself at this time or before, in milliseconds since 1970; any other stays as it is. */
        readonly dueAt?: number
      }
    ) => Effect.Effect<Manifest, VersionStoreError | VersionNotFound>

    /** What a version is made of; `None` if its `files.json` is missing or cannot be read. */
    readonly summarize: (
      versionId: string
    ) => Effect.Effect<Option.Option<VersionSummary>, VersionStoreError | VersionNotFound>

    /**
     * Takes or renews a consumer's lease on a version. One that is `closing` takes none: the lease that it has, on whatever
     * version, ends when two renewals are missing, after two minutes at least, unless it is renewed.
     */
    readonly acknowledge: (
      consumerId: string,
      versionId: string,
      details?: AckDetails
    ) => Effect.Effect<void, VersionStoreError | InvalidConsumerId | VersionNotFound | TooManyLeases>

    /**
     * Those that were heard of last, at most 256, as they were known when one was last heard of, or `versions` were read: the disk
     * is not looked at.
     */
    readonly consumers: Effect.Effect<ReadonlyArray<Consumer>>

    /**
     * Keeps a version from being swept for two minutes, in memory only: somebody reads it, or `still` does after a while.
     * At most four versions that nothing else keeps are kept: those that are still read before the others, the newest first.
     */
    readonly keep: (
      versionId: string,
      still?: boolean
    ) => Effect.Effect<void, VersionStoreError | VersionNotFound>

    /**
     * Reads all files of a version, of the active one where none is given, and compares them with its `files.json`. One
     * version at a time; others wait. Nothing of a version with problems is reused by the next one that is promoted.
     */
    readonly verify: (versionId?: string) => Effect.Effect<Verification, VersionStoreError | VersionNotFound>

    /** All versions on disk, the oldest first. */
    readonly versions: Effect.Effect<ReadonlyArray<VersionOverview>, VersionStoreError>

    /** Removes what needs no longer be kept, and returns what was removed. */
    readonly sweep: Effect.Effect<ReadonlyArray<VersionId>, VersionStoreError>

    /** As `sweep`, for a disk that is full: versions are kept neither for being new nor for being read. */
    readonly evict: Effect.Effect<ReadonlyArray<VersionId>, VersionStoreError>
  }
>() {}

/** The downloads folder could not be read or written. */
export class VersionStoreError extends Schema.TaggedError<VersionStoreError>()("vitrine/VersionStoreError", {
  /** What was tried, as in "cannot …". */
  action: Schema.String,
  path: Schema.String,
  /** What the system said and, where it is known, what to do. */
  detail: Schema.String,
  cause: OptionalErrorChain
}) {
  override get message() {
    return `Cannot ${this.action} ${this.path}: ${this.detail}`
  }
}

/**
 * Whether versions are staged only to look at them: then a downloads folder may be another controller's, and nothing but staged versions is
 * written there.
 */
export class SavesNothing extends Context.Reference<SavesNothing>()("vitrine/SavesNothing", {
  defaultValue: (): boolean => false
}) {}

/** Another controller works in the downloads folder. */
export class DownloadsInUse extends Schema.TaggedError<DownloadsInUse>()("vitrine/DownloadsInUse", {
  path: Schema.String,
  /** The process that uses it, if known. */
  owner: Schema.String
}) {
  override get message() {
    return `The downloads folder ${this.path} is in use by another controller (${this.owner}). Stop that one first, or give this one a folder of its own with "downloadPath".`
  }
}

/** An acknowledgement under an id that is no plain file name. */
export class InvalidConsumerId extends Schema.TaggedError<InvalidConsumerId>()("vitrine/InvalidConsumerId", {
  consumerId: Schema.String
}) {
  override get message() {
    return `The consumerId ${JSON.stringify(this.consumerId)} cannot be used: it must be one plain file name, such as "screen-1".`
  }
}

/** As many consumers as there may be hold a lease, and this is one more. */
export class TooManyLeases extends Schema.TaggedError<TooManyLeases>()("vitrine/TooManyLeases", {
  limit: Schema.Number,
  /** How long a lease lasts, for people. */
  lease: Schema.String
}) {
  override get message() {
    return `${this.limit} screens keep a version, and there can be no more. Give every screen one consumerId and keep it when the page loads again; a screen that is not heard of for ${this.lease} keeps none.`
  }
}

/** The version is not on disk: it never was, or it was swept. */
export class VersionNotFound extends Schema.TaggedError<VersionNotFound>()("vitrine/VersionNotFound", {
  versionId: Schema.String
}) {
  override get message() {
    return `There is no version ${JSON.stringify(this.versionId)} on disk. Read the manifest again.`
  }
}

/** There is no version on disk that could be gone back to. */
export class CannotRollBack extends Schema.TaggedError<CannotRollBack>()("vitrine/CannotRollBack", {
  /** What is not there. */
  detail: Schema.String,
  /** The versions on disk, the oldest first. */
  versions: Schema.Array(VersionId)
}) {
  override get message() {
    const versions = this.versions.length === 0 ? "no versions" : this.versions.join(", ")
    return `Cannot roll back: ${this.detail}. On disk: ${versions}.`
  }
}
