/**
 * A file that documents name, and why it cannot be had.
 */
import type * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { DownloadFailed } from "../../httpClient/DownloadFailed.ts"
import { type LinkPlace, problemAt } from "./FileProblem.ts"

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
  /** Its path in the folder of the source, where that is fixed: it stays the same as long as its path and its size do. */
  readonly localPath?: string | undefined
  readonly refresh?: Refresh | undefined
}

/** Gives another link in the place of one that has expired. */
export type Refresh = (expired: string) => Effect.Effect<string, Reason>

/** Why a file cannot be had. */
export type Reason = Pick<DownloadFailed, "detail"> &
  Partial<Pick<DownloadFailed, "cause" | "isExpired" | "isTransient">>

export const notSaved = (
  { isOptional, localPath, name, place, url }: WantedFile,
  { cause, detail, isExpired = false, isTransient = false }: Reason
) =>
  problemAt(place, {
    wrong: "file",
    file: localPath === undefined ? Option.getOrUndefined(Option.map(url, pathOf)) : name,
    detail:
      localPath === undefined && isExpired && !isOptional
        ? `${detail}. "media.optional" says which files may be missing`
        : detail,
    isTransient,
    cause
  })

const pathOf = (url: string): string => new URL(url).pathname
