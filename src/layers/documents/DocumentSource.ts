/**
 * The parts of your own source of documents: options, requests, documents, and `make`, which saves them.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Path from "@effect/platform/Path"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type {
  AttachmentProgress,
  ContentSource,
  FetchedAttachments,
  FetchTarget,
  SourceChanges
} from "../../services/ContentSource.ts"
import type { Document } from "./Document.ts"
import type { DocumentOptions } from "./DocumentOptions.ts"
import type { CheckedTable } from "./expect/TableCheck.ts"
import { makeDocumentSource } from "./makeDocumentSource.ts"
import type { MediaReader } from "./media/placeMedia.ts"
import type { FileOptions, FileSettings } from "./media/SourceFiles.ts"

// The declarations of a program use these types.
export type {
  ContentSource,
  ContentSourceDefinition,
  SourceEnvironment
} from "../../services/ContentSource.ts"
export { SourceError } from "../../services/SourceError.ts"
export { type Answer, RequestFailed, type RequestOptions } from "../httpClient/Requests.ts"
export { type Document, type DocumentContent, Keys, Records, Value } from "./Document.ts"
export type { FieldType } from "./DocumentConfig.ts"
export {
  type DocumentConfig as Config,
  DocumentOptions as Options,
  define,
  type Step
} from "./DocumentOptions.ts"
export { fileFieldsOfReader } from "./media/MediaOptions.ts"
export { makeRequests, type Requests } from "./readText.ts"

/**
 * Makes the source, as `makeDocumentSource` does. Its fetches fail with `SourceError`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: <E extends DocumentsError, R>(
  source: DocumentSource<E, R>
) => Effect.Effect<
  ContentSource,
  never,
  FileSystem.FileSystem | Path.Path | HttpClient.HttpClient | Scope.Scope | Exclude<R, Scope.Scope>
> = makeDocumentSource

/**
 * Why documents cannot be read.
 *
 * @since 0.1.0
 * @category models
 */
export interface DocumentsError extends Error {
  readonly isTransient: boolean
}

/**
 * The properties of documents that are tables.
 *
 * @since 0.1.0
 * @category models
 */
export interface Tables extends Pick<CheckedTable, "isAttachment" | "view"> {
  /** The fields of a saved record as in the table. */
  readonly fieldsOf: (record: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>
}

/**
 * Files that a source puts into its folder itself.
 *
 * @since 0.1.0
 * @category models
 */
export interface OwnFiles<E> extends FetchedAttachments {
  /** By their paths. */
  readonly digests: Readonly<Record<string, string>>
  /** Puts the missing files there; called only if something has changed. */
  readonly place: Effect.Effect<unknown, E>
}

/**
 * A source, opened for one fetch. Everything that belongs to the fetch is in here, and ends with its scope.
 *
 * @since 0.1.0
 * @category models
 */
export interface OpenedSource<E> {
  /** The documents, in the order of reading, one after the other. */
  readonly documents: ReadonlyArray<Document<E>>

  /** Documents of others that documents may link to by name. Default none. */
  readonly linked?: ((name: string) => Document<E> | undefined) | undefined

  /** Finds files in records in the source's own way, beside the files of the options. */
  readonly reader?: MediaReader | undefined

  /** The source's own files, after the documents are read. Default none. */
  readonly files?:
    | ((progress: (attachments: AttachmentProgress) => Effect.Effect<void>) => Effect.Effect<OwnFiles<E>, E>)
    | undefined

  /** Whether a path belongs to one of these files, for expectations. Default: there are none. */
  readonly isFile?: ((path: string) => boolean) | undefined
}

/**
 * The parts of a source. `E` is the error of reading its documents, `R` the services for reading them, and `Target`
 * the input of a fetch.
 *
 * @since 0.1.0
 * @category models
 */
export interface DocumentSource<E extends DocumentsError, R, Target extends FetchTarget = FetchTarget>
  extends Pick<ContentSource, "changes" | "data">,
    FileSettings {
  readonly options: Pick<DocumentOptions, "id" | "expect"> &
    Partial<Pick<DocumentOptions, "links" | "steps">> &
    FileOptions

  /** Begins a fetch, or a check. */
  readonly open: (target: Target) => Effect.Effect<OpenedSource<E>, E, R | Scope.Scope>

  /** Present if its documents are tables. */
  readonly tables?: Tables | undefined

  /** As the `poll` of a `ContentSource`. */
  readonly poll?: ((cursor: Option.Option<string>) => Effect.Effect<SourceChanges, E, R>) | undefined

  /** As the `schema` of a `ContentSource`. Default the expectations. */
  readonly schema?: ContentSource["schema"] | undefined

  /**
   * Removes the volatile parts of a record or value, such as a counter: they are saved, but a change of them makes no
   * new version. Default: there are none.
   */
  readonly lasting?: ((value: unknown) => unknown) | undefined
}
