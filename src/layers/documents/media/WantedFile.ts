/**
 * A file that documents link to, and why it cannot be had.
 */
import * as Option from "effect/Option"
import type { DownloadFailed } from "../../httpClient/DownloadFailed.ts"
import { MediaNotSaved, type Place } from "./errors.ts"
import { type DocumentPath, format } from "./PathPattern.ts"

/** A file that documents link to, however often. */
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
}

/** Where a link is; `path` is in the record, or else in the document. */
export interface LinkPlace extends Place {
  readonly path: DocumentPath
}

export const notSaved = (
  { isOptional, place, url }: WantedFile,
  {
    detail,
    isExpired = false,
    isTransient = false,
    ...more
  }: Partial<Pick<DownloadFailed, "cause" | "isExpired" | "isTransient">> & Pick<DownloadFailed, "detail">
) =>
  new MediaNotSaved({
    document: place.document,
    record: place.record,
    field: format(place.path),
    path: Option.getOrUndefined(Option.map(url, (url) => new URL(url).pathname)),
    detail: isExpired && !isOptional ? `${detail}. "media.optional" says which files may be missing` : detail,
    isTransient,
    ...more
  })
