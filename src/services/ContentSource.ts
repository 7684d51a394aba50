/**
 * A source of content: it fetches all of its content into a folder.
 *
 * It owns the content of the folder. Versions, promotion and announcement belong to the content plugin.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Path from "@effect/platform/Path"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { KnownCounts } from "../internal/contentCounts.ts"
import type { Mistake } from "../internal/mistake.ts"
import type { PlacedIssue } from "../internal/Options.ts"
import { count, optional } from "../internal/schemas.ts"
import type { RequestPacing } from "./RequestPacing.ts"
import type { SourceError } from "./SourceError.ts"
import { WaitReason } from "./WaitObserver.ts"
import type { Warning } from "./Warning.ts"

/**
 * Content that is fetched as a whole into a folder.
 *
 * @since 0.1.0
 * @category models
 */
export interface ContentSource {
  /** Unique among the sources of a controller, and the name of the source's folder in a version. */
  readonly id: string

  /**
   * Fetches everything into `target.directory`. If a part fails, the fetch fails.
   *
   * If it returns the fingerprint of `target.previous`, nothing has changed: the files in the directory are not used,
   * and may be incomplete.
   */
  readonly fetch: (target: FetchTarget) => Effect.Effect<FetchedSource, SourceError>

  /**
   * A cheap question: has anything changed since the cursor of an earlier poll (`None` at the first poll)? It is
   * asked at each tick, and the source is fetched only if something has changed. Without `poll`, the source is
   * fetched at each tick.
   */
  readonly poll?: ((cursor: Option.Option<string>) => Effect.Effect<SourceChanges, SourceError>) | undefined

  /**
   * Emits when something may have changed: the source is polled or fetched at once, before the next tick. It never
   * ends by itself. The next tick finds changes that it misses.
   */
  readonly changes?: Stream.Stream<void> | undefined

  /**
   * Gets the problems of the content after every fetch, except a check; an empty list if there are none. It is for
   * the people who work where the content comes from. It never fails. It does not get failures that may pass by
   * themselves.
   */
  readonly report?: ((problems: ReadonlyArray<SourceProblem>) => Effect.Effect<void>) | undefined

  /**
   * Schemas of its documents without a fetch, by the names of the documents, for the types that pages are compiled
   * with: a schema of the vendor, the expectations of the options. It may ask a server. Without it, the types come
   * from the documents of the active version.
   */
  readonly schema?: Effect.Effect<Readonly<Record<string, DocumentSchema>>, SourceError> | undefined

  /** Accepts what a warning of its last fetch is about: it is not given again while it stays as it is. */
  readonly accept?: ((warning: Warning) => Effect.Effect<void>) | undefined

  /**
   * A digest of the options that decide its content. A source that fails keeps no content of other options. Default:
   * its options never count as changed.
   */
  readonly options?: string | undefined

  /** Whether its files may be documents. A source that says `false`, for example for a page, has no types. Default `true`. */
  readonly hasDocuments?: boolean | undefined

  /**
   * More about the source for the state, read with every state. The status shows texts and figures under their names,
   * and `problems`, each a `Problem`, which count for the health of the controller.
   */
  readonly data?: Effect.Effect<Readonly<Record<string, unknown>>> | undefined
}

/**
 * A problem of the content of a source.
 *
 * @since 0.1.0
 * @category models
 */
export interface SourceProblem {
  /** Whether the problem keeps the content from being shown. */
  readonly isRejected: boolean
  /** What is wrong, where, and what to do: a sentence for people. */
  readonly text: string
  /** The mistake that the text is about, if it is known, for other languages. */
  readonly mistake?: Mistake | undefined
}

/**
 * What a source knows of a document before it is fetched.
 *
 * @since 0.1.0
 * @category models
 */
export interface DocumentSchema {
  /** Whether it is an array of records, or one value. Default: as in the active version, or else records. */
  readonly holds?: "records" | "value" | undefined
  /** Schemas of each record, or of the value. All of them apply, by their encoded side, the form that is saved. */
  readonly schemas: ReadonlyArray<Schema.Schema.AnyNoContext>
  /** Whether there are no other fields. Default `false`: other fields come from the active version. */
  readonly isComplete?: boolean | undefined
}

/**
 * The result of a poll of a source.
 *
 * @since 0.1.0
 * @category models
 */
export interface SourceChanges {
  /**
   * Where the next poll begins: an `ETag`, a revision number, a position in a list of changes. It is read before the
   * content, so that the next poll finds changes during the fetch. Opaque to other parts, kept in memory.
   */
  readonly cursor: string
  /** Whether anything has changed. The first poll says `everything`. Of a poll that cannot tell, `cursor` is the one before. */
  readonly changed: "nothing" | "everything" | Unknown
}

/**
 * The answer of a poll that cannot tell whether anything is new. It is asked again at each tick.
 *
 * @since 0.1.0
 * @category models
 */
export interface Unknown {
  /** For people: the thing, and what to do. */
  readonly reason: string
  /** Whether a file only grows, as while it is copied: then this is a problem after an hour, or else after five minutes. */
  readonly isGrowing?: boolean | undefined
}

/**
 * The source of a program with one source. Provide a second source as a layer of the same Tag elsewhere, or list it
 * in `sources`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ContentSource = Context.GenericTag<ContentSource>("vitrine/ContentSource")

/**
 * The input of one fetch of a source.
 *
 * @since 0.1.0
 * @category models
 */
export interface FetchTarget {
  /** An existing empty folder for this source alone (absolute path). */
  readonly directory: string
  /**
   * The content of this source in the latest version: the active version, or the waiting version while the active one
   * is held.
   */
  readonly previous: Option.Option<PreviousContent>
  /**
   * Whether this is a check: the content is thrown away, and the check must change neither what a later fetch saves
   * nor what it reports. Default false.
   */
  readonly isCheck?: boolean | undefined
  /**
   * Whether this is a sample: the first page of each document is enough, without the files linked from records, and
   * expectations are not checked. A source that knows no pages fetches everything.
   */
  readonly isSample?: boolean | undefined
  /** Called whenever the progress changes; cheap to call. */
  readonly progress: (progress: SourceProgress) => Effect.Effect<void>
}

/**
 * The content of a source in the latest version.
 *
 * @since 0.1.0
 * @category models
 */
export interface PreviousContent extends KnownCounts {
  /** To reuse files from: read only (absolute path). */
  readonly directory: string
  /** As `fetch` returned it. `None` if files are missing or cut: then the new version needs everything. */
  readonly fingerprint: Option.Option<string>
  /** Its complete files, by their paths in the folder. Empty if this is not known. */
  readonly files: Readonly<Record<string, SourceFile>>
  /** The times of these files, by their paths. Default not known. */
  readonly times?: ReadonlyMap<string, FileTimes> | undefined
}

/**
 * The times of a file in a version, in milliseconds since 1970.
 *
 * @since 0.1.0
 * @category models
 */
export interface FileTimes {
  /** Of its last change: a copy has the time of its original. */
  readonly modified: number
  /** When the file was made in the version, or in an earlier version that it is linked from. */
  readonly made: number
}

/**
 * A SHA-256 digest.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Sha256 = Schema.String.pipe(
  Schema.pattern(/^[0-9a-f]{64}$/, { message: () => "must be 64 lower-case hexadecimal digits" })
)

/**
 * A file in a version.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SourceFile = Schema.Struct({
  /** In bytes. */
  size: count,
  sha256: Sha256
})
export type SourceFile = typeof SourceFile.Type

/**
 * How many files are done, over all documents.
 *
 * @since 0.1.0
 * @category schemas
 */
export const AttachmentProgress = Schema.Struct({
  done: count,
  total: count,
  /** The size of the finished files, and of the received parts of others. */
  bytes: count,
  /** The size of all files, if it is known. */
  totalBytes: optional(count)
})
export type AttachmentProgress = typeof AttachmentProgress.Type

/**
 * The progress of a fetch.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SourceProgress = Schema.Struct({
  /** The document in progress. */
  document: Schema.String,
  /** How many documents were read to their end. */
  documents: Schema.Struct({ done: count, total: count }),
  /** How many records of the document are saved. */
  records: count,
  /** While it fetches the files linked from records. */
  attachments: optional(AttachmentProgress),
  /** While it waits: why, and until when at the earliest (ISO 8601, UTC). */
  waiting: optional(Schema.Struct({ reason: WaitReason, until: Schema.String }))
})
export type SourceProgress = typeof SourceProgress.Type

/**
 * How many attachments were saved; `bytes` is their size in all.
 *
 * @since 0.1.0
 * @category schemas
 */
export const FetchedAttachments = Schema.Struct({
  total: count,
  bytes: count,
  /** How many were reused from the active version. */
  reused: count
})
export type FetchedAttachments = typeof FetchedAttachments.Type

/**
 * A JSON document as a source has saved it.
 *
 * @since 0.1.0
 * @category models
 */
export interface FetchedDocument {
  /** The fields that identify a record of it, each a path with dots, for comparing versions. Default `["id"]`. */
  readonly key?: ReadonlyArray<string> | undefined
  /** Its address: relative links in it are relative to this address. */
  readonly url?: string | undefined
}

/**
 * The result of one fetch of a source.
 *
 * @since 0.1.0
 * @category models
 */
export interface FetchedSource {
  /** Equal for equal content; volatile parts, such as links that expire, do not change it. */
  readonly fingerprint: string
  /** How many records were saved, over all documents that are lists. */
  readonly records: number
  /** How many saved documents are one value each. Default 0. */
  readonly values?: number | undefined
  /** The size of all saved files in bytes, reused files included. */
  readonly bytes: number
  /** The files linked from records, if the source knows such files. */
  readonly attachments?: FetchedAttachments | undefined
  /**
   * SHA-256 digests of files, by their paths in the folder with forward slashes. Other files are read once more to
   * compute their digests.
   */
  readonly digests?: Readonly<Record<string, string>> | undefined
  /**
   * Its documents, by their paths in the folder. Without it, every `.json` file at the top of the folder is a
   * document.
   */
  readonly documents?: Readonly<Record<string, FetchedDocument>> | undefined
  /**
   * Problems for the editors of the content. The status shows them until the next fetch. Subjects are without the id of
   * the source. A text is a warning of no particular kind.
   */
  readonly warnings?: ReadonlyArray<Warning | string> | undefined
}

/**
 * What a source needs to be built from its options.
 *
 * @since 0.1.0
 * @category models
 */
export type SourceEnvironment = FileSystem.FileSystem | Path.Path | HttpClient.HttpClient | RequestPacing

/**
 * The folder that relative paths in the options of sources start from. Default the working directory; `content` in a
 * configuration sets it to the folder of the configuration file.
 *
 * @since 0.1.0
 * @category tags
 */
export class BaseFolder extends Context.Reference<BaseFolder>()("vitrine/BaseFolder", {
  defaultValue: () => "."
}) {}

/**
 * The folder in which sources keep small files over a restart: `content` sets it to a folder in the downloads folder.
 * Default none.
 *
 * @since 0.1.0
 * @category tags
 */
export class SourceFolder extends Context.Reference<SourceFolder>()("vitrine/SourceFolder", {
  defaultValue: () => Option.none<string>()
}) {}

/**
 * A source in a configuration. `R` are the source's own services, which a layer of `Content` then needs.
 *
 * @since 0.1.0
 * @category models
 */
export interface ContentSourceDefinition<R = never> {
  readonly id: string
  /** The mistakes in its options. It is only made if there are none. */
  readonly issues: ReadonlyArray<PlacedIssue>
  /** If it fails, the user sees its message, and the controller does not start. */
  readonly make: Effect.Effect<ContentSource, Error, SourceEnvironment | Scope.Scope | R>
}
