/**
 * A file that documents link to, and why it cannot be had.
 */
import type * as Option from "effect/Option"
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
  /** Whether a document with a link to it came from the same host, and that is a local address: then the file may as well. */
  readonly isFromLocal: boolean
}

/** Where a link is; `path` is in the record, or else in the document. */
export interface LinkPlace extends Place {
  readonly path: DocumentPath
}

export const notSaved = (
  { place }: WantedFile,
  {
    isTransient = false,
    ...more
  }: Partial<Pick<MediaNotSaved, "cause" | "isTransient">> & Pick<MediaNotSaved, "detail">
) =>
  new MediaNotSaved({
    document: place.document,
    record: place.record,
    field: format(place.path),
    isTransient,
    ...more
  })
