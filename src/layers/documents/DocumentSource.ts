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

// The declarations of a program name these types.
export type {
  ContentSource,
  ContentSourceDefinition,
  SourceEnvironment
} from "../../services/ContentSource.ts"
export { SourceError } from "../../services/SourceError.ts"
export { type Answer, RequestFailed, type RequestOptions } from "../httpClient/Requests.ts"
export { type Document, type DocumentContent, Keys, Records, Value } from "./Document.ts"
export {
  type DocumentConfig as Config,
  DocumentOptions as Options,
  define,
  type Step
} from "./DocumentOptions.ts"
export type { FieldType } from "./expect/ExpectConfig.ts"
export { fileFieldsOfReader } from "./media/MediaOptions.ts"
export { makeRequests, type Requests } from "./readText.ts"

/** Makes the source, as `makeDocumentSource` does. Its fetches fail with `SourceError`. */
export const make: <E extends DocumentsError, R>(
  source: DocumentSource<E, R>
) => Effect.Effect<
  ContentSource,
  never,
  FileSystem.FileSystem | Path.Path | HttpClient.HttpClient | Scope.Scope | Exclude<R, Scope.Scope>
> = makeDocumentSource

/** Why documents cannot be had. */
export interface DocumentsError extends Error {
  readonly isTransient: boolean
}

/** What documents are that are tables. */
export interface Tables extends Pick<CheckedTable, "isAttachment" | "view"> {
  /** The fields of a saved record as they are in the table. */
  readonly fieldsOf: (record: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>
}

/** Files that a source puts into its folder by itself. */
export interface OwnFiles<E> extends FetchedAttachments {
  /** By their paths. */
  readonly digests: Readonly<Record<string, string>>
  /** Puts the files there that are not yet; only if something has changed. */
  readonly place: Effect.Effect<unknown, E>
}

/** A source, opened for one fetch. Everything that belongs to the fetch is in here, and ends with its scope. */
export interface OpenedSource<E> {
  /** The documents, in the order in which they are read, one after the other. */
  readonly documents: ReadonlyArray<Document<E>>

  /** Documents that are none of the source, but that others may link to by name. Default none. */
  readonly linked?: ((name: string) => Document<E> | undefined) | undefined

  /** Finds the files that records name in a way of the source's own, beside those of the options. */
  readonly reader?: MediaReader | undefined

  /** Files of the source's own, once the documents are read. Default none. */
  readonly files?:
    | ((progress: (attachments: AttachmentProgress) => Effect.Effect<void>) => Effect.Effect<OwnFiles<E>, E>)
    | undefined

  /** Whether a path is that of one of these files, for what is expected. Default: there are none. */
  readonly isFile?: ((path: string) => boolean) | undefined
}

/**
 * The parts of a source. `E` is why its documents cannot be had, `R` what reading them needs, and `Target` what a fetch is given.
 */
export interface DocumentSource<E extends DocumentsError, R, Target extends FetchTarget = FetchTarget>
  extends Pick<ContentSource, "changes" | "data">,
    FileSettings {
  readonly options: Pick<DocumentOptions, "id" | "expect"> &
    Partial<Pick<DocumentOptions, "links" | "steps">> &
    FileOptions

  /** Begins a fetch, or a check. */
  readonly open: (target: Target) => Effect.Effect<OpenedSource<E>, E, R | Scope.Scope>

  /** Where its documents are tables. */
  readonly tables?: Tables | undefined

  /** As the `poll` of a `ContentSource`. */
  readonly poll?: ((cursor: Option.Option<string>) => Effect.Effect<SourceChanges, E, R>) | undefined

  /** As the `schema` of a `ContentSource`. Default what is expected. */
  readonly schema?: ContentSource["schema"] | undefined

  /** Takes out of a record or value what may change without new content, such as a counter: it is saved, but makes no new version. Default nothing. */
  readonly lasting?: ((value: unknown) => unknown) | undefined
}
