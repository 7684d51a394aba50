/**
 * What is wrong with files that documents name.
 *
 * A file that documents name, and why it cannot be had.
 */
import * as Array from "effect/Array"
import type * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { quotedExcerpt } from "../../../internal/printable.ts"
import { countText } from "../../../internal/readable.ts"
import { OptionalErrorChain } from "../../../internal/SerializedError.ts"
import { SourceError } from "../../../services/SourceError.ts"
import type { DownloadFailed } from "../../httpClient/httpFailure.ts"
import { Place, placeText } from "../Document.ts"
import { type DocumentPath, format } from "./PathPattern.ts"

/** Where a link is; `path` is in the record, or else in the document. */
export interface LinkPlace extends Place {
  readonly path: DocumentPath
}

/** A file cannot be had or written; smaller pictures cannot be made of it; or it is a picture that is not as it should be. */
export class FileProblem extends Schema.TaggedError<FileProblem>()("vitrine/FileProblem", {
  wrong: Schema.Literal("file", "others", "sizes", "picture"),
  place: Place,
  /** What it is called there, its path in the folder of the source, or that of the link: links may be signed, and are in no message. */
  file: Schema.optional(Schema.String),
  /** What happened. No more of an address than its origin is in it. */
  detail: Schema.String,
  /** Whether another try may succeed later without anybody doing something. */
  isTransient: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  cause: OptionalErrorChain
}) {}

/** The problem as the failure of its source. */
export const sourceErrorOf = ({ cause, detail, file, isTransient, place, wrong }: FileProblem) =>
  new SourceError({
    place: placeText(place),
    detail: `${texts[wrong].one(file === undefined ? "" : ` ${quotedExcerpt(file)}`)}: ${detail}`,
    isTransient,
    cause
  })

const texts = {
  file: {
    one: (file: string) => `the file${file} cannot be saved`,
    several: (count: number) => `${countText(count, "file")} cannot be saved`
  },
  others: {
    one: (file: string) => `the file${file} names other files`,
    several: (count: number) => `${countText(count, "file")} name other files`
  },
  sizes: {
    one: (file: string) => `the sizes of the picture${file} cannot be made`,
    several: (count: number) => `The sizes of ${countText(count, "picture")} cannot be made`
  },
  picture: {
    one: (file: string) => `the picture${file} is not as it should be`,
    several: (count: number) => `${countText(count, "picture")} are not as they should be`
  }
}

/** The problem with a file that is named at a place. */
export const problemAt = (
  { path, ...place }: LinkPlace,
  problem: Omit<ConstructorParameters<typeof FileProblem>[0], "place">
): FileProblem => new FileProblem({ place: { ...place, field: format(path) }, ...problem })

/** In how many places something is wrong, before the others are only counted. */
const maxPlaces = 3

/** Problems as warnings: one for each reason. */
export const warningsOf = (problems: ReadonlyArray<FileProblem>): ReadonlyArray<string> =>
  Object.values(
    Array.groupBy(
      // A picture that is cut in several ways has failed as often.
      new Map(problems.map((problem) => [sourceErrorOf(problem).message, problem])).values(),
      ({ detail, wrong }) => `${wrong} ${detail}`
    )
  ).map((same) => {
    const [first] = same
    if (same.length === 1) return sourceErrorOf(first).message
    const places = same
      .slice(0, maxPlaces)
      .map(({ file, place }) => `${placeText(place)}${file === undefined ? "" : ` (${quotedExcerpt(file)})`}`)
    const more = same.length - places.length
    const what = `${texts[first.wrong].several(same.length)}: ${first.detail}`
    return `${what.replace(/\.$/, "")}. ${[...places, ...(more > 0 ? [`and ${more} more`] : [])].join("; ")}`
  })

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
