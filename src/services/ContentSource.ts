/**
 * A source of content: something that can be fetched as a whole into a folder.
 *
 * It owns what the folder holds. Versions, promotion and announcement belong to the content plugin.
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
import type { PlacedIssue } from "../internal/parseIssues.ts"
import { count, optional } from "../internal/schemas.ts"
import type { RequestPacing } from "./RequestPacing.ts"
import type { SourceError } from "./SourceError.ts"
import { WaitReason } from "./WaitObserver.ts"

export interface ContentSource {
  /** Unique among the sources of a controller, and the name of the source's folder in a version. */
  readonly id: string

  /**
   * Fetches everything into `target.directory`. A part that fails fails the whole.
   *
   * Where the fingerprint that it returns is the one in `target.previous`, nothing has changed: what is in the directory is
   * not used, and may be incomplete.
   */
  readonly fetch: (target: FetchTarget) => Effect.Effect<FetchedSource, SourceError>

  /**
   * A cheap question: what has changed since the cursor that an earlier poll gave; `None` at the first. It is asked at each tick, and
   * the source is fetched only where something has changed. Without it the source is fetched at each tick.
   */
  readonly poll?: ((cursor: Option.Option<string>) => Effect.Effect<SourceChanges, SourceError>) | undefined

  /**
   * Emits when something may have changed: the source is polled, or fetched, without waiting for the next tick. It never ends by
   * itself; what it cannot hear is found at the next tick.
   */
  readonly changes?: Stream.Stream<void> | undefined

  /**
   * Told after every fetch, except a check, what is wrong with its content; nothing if all is right. It is for the people who work
   * where the content comes from. It never fails. A failure that may pass by itself is not told.
   */
  readonly report?: ((problems: ReadonlyArray<SourceProblem>) => Effect.Effect<void>) | undefined

  /**
   * What it knows of its documents without fetching them, by their names, for the types that pages are compiled with: a schema of the
   * vendor's, what the options expect. It may ask a server. Without it, they are read off the documents of the active version.
   */
  readonly schema?: Effect.Effect<Readonly<Record<string, DocumentSchema>>, SourceError>

  /**
   * What the state says of it, beside its fetches, read with every state. The status shows texts and figures under their names,
   * and `problems`, each a `Problem`, which count for the health of the controller.
   */
  readonly data?: Effect.Effect<Readonly<Record<string, unknown>>> | undefined
}

/** Something that is wrong with the content of a source. */
export interface SourceProblem {
  /** Whether the content is not shown because of it. */
  readonly isRejected: boolean
  /** What is wrong, where, and what to do: a sentence for people. */
  readonly text: string
}

/** What a source knows of a document before it is fetched. */
export interface DocumentSchema {
  /** Whether it is an array of records, or one value. Default as in the active version, or else records. */
  readonly holds?: "records" | "value"
  /** Schemas of each record, or of the value. All of them apply, by their encoded side, as it is saved. */
  readonly schemas: ReadonlyArray<Schema.Schema.AnyNoContext>
  /** Whether there are no other fields. Default `false`: others are read off the active version. */
  readonly isComplete?: boolean
}

/** What a poll of a source found. */
export interface SourceChanges {
  /**
   * Where the next poll begins: an `ETag`, a revision number, a position in a list of changes. It is taken before anything is
   * read, so that what changes during the fetch is found by the next poll. Opaque to others, kept in memory.
   */
  readonly cursor: string
  /** Whether anything has. At the first poll it is everything. */
  readonly changed: "nothing" | "everything"
}

/** Everything may have changed where the cursor is another one than before. */
export const changesSince = (before: Option.Option<string>, cursor: string): SourceChanges => ({
  cursor,
  changed: Option.contains(before, cursor) ? "nothing" : "everything"
})

/** The source of a program that has one. A second one is a layer of the same Tag elsewhere, or goes into `sources`. */
export const ContentSource = Context.GenericTag<ContentSource>("vitrine/ContentSource")

/** What a source is given for one fetch. */
export interface FetchTarget {
  /** An existing empty folder that is this source's alone (absolute path). */
  readonly directory: string
  /** What this source has in the latest version: the active one, or the one that waits while that is held. */
  readonly previous: Option.Option<PreviousContent>
  /**
   * Whether this is a check: what is read is thrown away, and must change neither what a later fetch saves nor what it says.
   * Default false.
   */
  readonly isCheck?: boolean
  /**
   * Whether it is only looked at what would come: the first page of each document is enough, without the files that hang on it, and
   * nothing is expected of it. A source that knows no pages fetches everything.
   */
  readonly isSample?: boolean
  /** Told as often as there is something new to tell; cheap to call. */
  readonly progress: (progress: SourceProgress) => Effect.Effect<void>
}

/** The content of a source in the latest version. */
export interface PreviousContent {
  /** To take files over from: only to be read (absolute path). */
  readonly directory: string
  /** As `fetch` returned it. None where files are missing or cut: everything is to be in the new version then. */
  readonly fingerprint: Option.Option<string>
  /** Those of its files that are there and whole, by their paths in the folder. Empty where that is not known. */
  readonly files: Readonly<Record<string, SourceFile>>
}

/** A SHA-256 digest. */
export const Sha256 = Schema.String.pipe(
  Schema.pattern(/^[0-9a-f]{64}$/, { message: () => "must be 64 lower-case hexadecimal digits" })
)

/** A file as it is in a version. */
export const SourceFile = Schema.Struct({
  /** In bytes. */
  size: count,
  sha256: Sha256
})
export type SourceFile = typeof SourceFile.Type

/** How many files are there, over all documents. */
export const AttachmentProgress = Schema.Struct({
  done: count,
  total: count,
  /** The size of those that are done, and of what there is of others. */
  bytes: count,
  /** The size of all of them, where that is known. */
  totalBytes: optional(count)
})
export type AttachmentProgress = typeof AttachmentProgress.Type

/** How far a fetch has come. */
export const SourceProgress = Schema.Struct({
  /** What it works on. */
  document: Schema.String,
  /** How many documents are read to their end. */
  documents: Schema.Struct({ done: count, total: count }),
  /** How many records of the document are saved. */
  records: count,
  /** Where it works on the files that hang on records. */
  attachments: optional(AttachmentProgress),
  /** Where it rests: why, and until when at the earliest (ISO 8601, UTC). */
  waiting: Schema.optionalWith(Schema.Struct({ reason: WaitReason, until: Schema.String }), { exact: true })
})
export type SourceProgress = typeof SourceProgress.Type

/** How many attachments were saved; `bytes` is their size in all. */
export const FetchedAttachments = Schema.Struct({
  total: count,
  bytes: count,
  /** How many were taken over from the active version. */
  reused: count
})
export type FetchedAttachments = typeof FetchedAttachments.Type

/** A JSON document as a source has saved it. */
export interface FetchedDocument {
  /** The fields that identify a record of it, each a path with dots, for comparing versions. Default `["id"]`. */
  readonly key?: ReadonlyArray<string> | undefined
  /** Where it came from: relative links in it are relative to this address. */
  readonly url?: string | undefined
}

/** What became of one fetch of a source. */
export interface FetchedSource {
  /** Equal for equal content, whatever was volatile in how it came. */
  readonly fingerprint: string
  /** How many records were saved, over all documents that are lists. */
  readonly records: number
  /** How many documents were saved that are one value each. Default 0. */
  readonly values?: number
  /** The size of everything that was saved, files taken over included. */
  readonly bytes: number
  /** The files that hang on records, where the source knows such. */
  readonly attachments?: FetchedAttachments
  /** SHA-256 digests of files, by their paths in the folder with forward slashes. Other files are read once more for it. */
  readonly digests?: Readonly<Record<string, string>>
  /** Its documents, by their paths in the folder. Without it, every `.json` file at the top of the folder is one. */
  readonly documents?: Readonly<Record<string, FetchedDocument>>
  /** What the editors of the content should look at, for people. The status shows it until the next fetch. */
  readonly warnings?: ReadonlyArray<string>
}

/** What a source needs to be built from its options. */
export type SourceEnvironment = FileSystem.FileSystem | Path.Path | HttpClient.HttpClient | RequestPacing

/**
 * The folder that relative paths in the options of sources start from, where it is not the working directory: `content` in a
 * configuration gives that of the configuration file.
 */
export class BaseFolder extends Context.Reference<BaseFolder>()("vitrine/BaseFolder", {
  defaultValue: () => "."
}) {}

/** The folder in which sources keep small files of their own over a restart: `content` gives one in the downloads folder. Default none. */
export class SourceFolder extends Context.Reference<SourceFolder>()("vitrine/SourceFolder", {
  defaultValue: () => Option.none<string>()
}) {}

/** A source as it stands in a configuration. `R` are services of its own, which a layer of `Content` needs then. */
export interface ContentSourceDefinition<R = never> {
  readonly id: string
  /** What is wrong with its options; it is only made when that is nothing. */
  readonly issues: ReadonlyArray<PlacedIssue>
  /** If it fails, its message is shown to the user, and the controller does not start. */
  readonly make: Effect.Effect<ContentSource, Error, SourceEnvironment | Scope.Scope | R>
}
