/**
 * A file that documents name, and why it cannot be had.
 */
import type * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import type { DownloadFailed } from "../../httpClient/DownloadFailed.ts"
import { FileNotSaved, type Place } from "./errors.ts"
import { type DocumentPath, format } from "./PathPattern.ts"

/** A file that documents name, however often. */
export interface WantedFile {
  /** `None` where its link is relative, and where its document came from is not known. */
  readonly url: Option.Option<string>
  /** As the document gives them. */
  readonly name: string | undefined
  readonly size: number | undefined
  readonly version: string | undefined
  /** What tells it from others. */
  readonly identity: string
  /** A place of a link that needs it, where there is one. */
  readonly place: LinkPlace
  /** Whether it may be missing everywhere. */
  readonly isOptional: boolean
  /** Whether a document with a link to it came from the same host, which may be a local one then. */
  readonly isAtServer: boolean
  /** Takes secrets out of words that have something of the document in them. Default none. */
  readonly hide?: (text: string) => string
  /** Set if a reader of the source has found the file. */
  readonly attachment?: AttachedFile
}

/** A file whose place is known beforehand: it stays the same as long as its path and its size do. */
export interface AttachedFile {
  /** Its path in the folder of the source. */
  readonly localPath: string
  /** The newest link that is known; once one has expired, another one, for which its record may be read again. */
  readonly link: (expired: Option.Option<string>) => Effect.Effect<string, FileProblem>
}

/** Why a file cannot be had. */
export type FileProblem = Pick<DownloadFailed, "detail"> &
  Partial<Pick<DownloadFailed, "cause" | "isExpired" | "isTransient">>

/** Where a link is; `path` is in the record, or else in the document. */
export interface LinkPlace extends Place {
  readonly path: DocumentPath
}

export const notSaved = (
  { attachment, hide = identity, isOptional, name, place, url }: WantedFile,
  { detail, isExpired = false, isTransient = false, ...more }: FileProblem
) =>
  new FileNotSaved({
    document: place.document,
    kind: place.kind,
    record: place.record && hide(place.record),
    field: hide(format(place.path)),
    file: Option.getOrUndefined(
      Option.map(attachment === undefined ? Option.map(url, pathOf) : Option.fromNullable(name), hide)
    ),
    detail:
      attachment === undefined && isExpired && !isOptional
        ? `${detail}. "media.optional" says which files may be missing`
        : detail,
    isTransient,
    ...more
  })

const pathOf = (url: string): string => new URL(url).pathname
