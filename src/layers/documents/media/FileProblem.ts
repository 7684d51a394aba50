/**
 * Files that documents link to, and the problems with them, as failures and as warnings.
 */
import * as Array from "effect/Array"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { mistake, mistakeText } from "../../../internal/mistake.ts"
import { excerpt } from "../../../internal/printable.ts"
import { OptionalErrorChain } from "../../../internal/SerializedError.ts"
import { SourceError } from "../../../services/SourceError.ts"
import type { Warning } from "../../../services/Warning.ts"
import type { DownloadFailed } from "../../httpClient/httpFailure.ts"
import { mistakePlace, Place, subjectOf } from "../Document.ts"
import { failureAbout, warningOf } from "../warnings.ts"
import { fieldOf, type Trail } from "./PathPattern.ts"

/** The place of a link; `trail` leads there in the record, or else in the document. */
export interface LinkPlace extends Place {
  readonly trail: Trail | undefined
}

/** A file cannot be downloaded or written, smaller pictures cannot be made from it, or the picture has a mistake. */
export class FileProblem extends Schema.TaggedError<FileProblem>()("vitrine/FileProblem", {
  wrong: Schema.Literal("file", "others", "sizes", "picture", "unplayable", "encoding", "other", "cut"),
  place: Place,
  /**
   * Its name in the document, its path in the folder of the source, or the path of the link. Never the link itself,
   * which may be signed.
   */
  file: Schema.optional(Schema.String),
  /** The reason. It contains no more of an address than its origin. */
  detail: Schema.String,
  /** Whether a later try may succeed without anybody doing something. */
  isTransient: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  /** Whether its link may have been signed, and has expired: its document has a fresh one. */
  isExpired: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  cause: OptionalErrorChain
}) {}

/** The part of a problem that a warning shows. Making an error for each flawed file is slow. */
export type NotedProblem = Pick<FileProblem, "wrong" | "place" | "file" | "detail">

/** A signed link has expired before its file was saved. */
export class LinkExpired extends Schema.TaggedError<LinkExpired>()("vitrine/LinkExpired", {
  error: SourceError
}) {
  override get message() {
    return this.error.message
  }

  get isTransient(): boolean {
    return this.error.isTransient
  }
}

/** The problem as the failure of its source. */
export const failureOfFile = (problem: FileProblem) =>
  failureAbout(mistakeOf(problem), { isTransient: problem.isTransient, cause: problem.cause })

const mistakeOf = ({ detail, file, place, wrong }: NotedProblem) =>
  mistake("file:problem", mistakePlace(place), { wrong, file, detail })

/** The code of a warning about it (docs/problems.md). */
export const codeOf = {
  file: "file:missing",
  others: "content:note",
  sizes: "content:note",
  picture: "file:unplayable",
  unplayable: "file:unplayable",
  encoding: "file:encoding",
  other: "file:wrong",
  cut: "file:cut"
} as const

/** The place of a link in a problem. */
export const problemPlace = ({ trail, ...place }: LinkPlace): Place => ({
  ...place,
  field: excerpt(fieldOf(trail))
})

/** The problem with a file at a place. */
export const problemAt = (
  place: LinkPlace,
  problem: Omit<ConstructorParameters<typeof FileProblem>[0], "place">
): FileProblem => new FileProblem({ place: problemPlace(place), ...problem })

/** How many places a warning lists, before it only counts the others. */
const maxPlaces = 3

/** Problems as warnings: one warning for each reason. */
export const warningsOf = (problems: ReadonlyArray<NotedProblem>): ReadonlyArray<Warning> =>
  Object.values(
    Array.groupBy(
      // A picture with several crops fails once for each crop.
      new Map(problems.map((problem) => [mistakeText(mistakeOf(problem)), problem])).values(),
      ({ detail, wrong }) => `${wrong} ${detail}`
    )
  ).map((same) => {
    const [first] = same
    const at = same.slice(0, maxPlaces).map(({ file, place }) => ({ place: mistakePlace(place), file }))
    const { detail, wrong } = first
    const problem =
      same.length === 1
        ? mistakeOf(first)
        : mistake("file:problems", {}, { wrong, detail, count: same.length, at })
    return warningOf(subjectOf(first.place), problem, codeOf[wrong])
  })

/** A file that documents link to, once or often. */
export interface WantedFile {
  /** `undefined` if its link is relative, and the address of its document is not known. */
  readonly url: string | undefined
  /** As in the document. */
  readonly name: string | undefined
  readonly size: number | undefined
  readonly version: string | undefined
  /** Tells the file from other files. */
  readonly identity: string
  /** The place of a required link, if there is one. */
  readonly place: LinkPlace
  /** Whether all its links are optional. */
  readonly isOptional: boolean
  /** Whether a document with a link to it came from the same host. Then this host may be a local one. */
  readonly isAtServer: boolean
  /**
   * Its fixed path in the folder of the source, if it has one. The file stays the same as long as its path and its
   * size do.
   */
  readonly localPath?: string | undefined
  readonly refresh?: Refresh | undefined
}

/** Returns a fresh link in the place of an expired link. */
export type Refresh = (expired: string) => Effect.Effect<string, Reason>

/** Why a file cannot be saved. */
export type Reason = Pick<DownloadFailed, "detail"> &
  Partial<Pick<DownloadFailed, "cause" | "isExpired" | "isTransient">>

export const notSaved = (
  { isOptional, localPath, name, place, url }: WantedFile,
  { cause, detail, isExpired = false, isTransient = false }: Reason
) =>
  problemAt(place, {
    wrong: "file",
    file: localPath === undefined ? url && new URL(url).pathname : name,
    detail:
      localPath === undefined && isExpired && !isOptional
        ? `${detail}. "media.optional" says which files may be missing`
        : detail,
    isTransient,
    isExpired: isExpired && url?.includes("?") === true,
    cause
  })
