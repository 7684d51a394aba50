/**
 * A source of content: something that can be fetched as a whole into a folder.
 *
 * It owns what the folder holds. Versions, promotion and announcement belong to the content plugin.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Path from "@effect/platform/Path"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { messageOf } from "./ErrorDescription.ts"
import type { InvalidOptions } from "./Options.ts"
import type { PlacedIssue } from "./ParseIssues.ts"
import type { RequestPacing } from "./RequestPacing.ts"

export interface ContentSource {
  /** Unique among the sources of a controller, and the name of the source's folder in a version. */
  readonly id: string

  /** Fetches everything anew into `target.directory`. A part that fails fails the whole. */
  readonly fetch: (target: FetchTarget) => Effect.Effect<FetchedSource, SourceFailed>
}

export interface FetchTarget {
  /** An existing empty folder that is this source's alone (absolute path). */
  readonly directory: string
  /** This source's folder in the active version, to take files over from: only to be read (absolute path). */
  readonly previous: Option.Option<string>
  /** Told as often as there is something new to tell; cheap to call. */
  readonly progress: (progress: SourceProgress) => Effect.Effect<void>
}

/** How far a fetch has come. */
export interface SourceProgress {
  /** What it works on. */
  readonly document: string
  /** How many records of the document are saved. */
  readonly records: number
  /** Where it works on the files that hang on records. */
  readonly attachments?: AttachmentProgress
}

/** How many files are there, over all documents. */
export interface AttachmentProgress {
  readonly done: number
  readonly total: number
  /** The size of those that are done. */
  readonly bytes: number
}

export interface FetchedSource {
  /** Equal for equal content, whatever was volatile in how it came. */
  readonly fingerprint: string
  /** How many records were saved, over all documents. */
  readonly records: number
  /** The files that hang on records, where the source knows such. */
  readonly attachments?: FetchedAttachments
}

export interface FetchedAttachments {
  readonly total: number
  readonly bytes: number
  /** How many were taken over from the active version. */
  readonly reused: number
}

/** What a source needs to be built from its options. */
export type SourceEnvironment = FileSystem.FileSystem | Path.Path | HttpClient.HttpClient | RequestPacing

/** A source as it stands in a configuration. */
export interface ContentSourceDefinition {
  readonly id: string
  /** What is wrong with its options; it is only made when that is nothing. */
  readonly issues: ReadonlyArray<PlacedIssue>
  readonly make: Effect.Effect<ContentSource, InvalidOptions, SourceEnvironment | Scope.Scope>
}

export class SourceFailed extends Schema.TaggedError<SourceFailed>()("SourceFailed", {
  sourceId: Schema.String,
  cause: Schema.Defect
}) {
  override get message() {
    return `Source "${this.sourceId}": ${messageOf(this.cause)}`
  }
}
