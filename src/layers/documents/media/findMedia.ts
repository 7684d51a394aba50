/**
 * The links in all documents of a source, and the files that they lead to.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { countText } from "../../../internal/readable.ts"
import { defaultKey, recordId } from "../../../internal/recordKey.ts"
import type { FetchedDocument } from "../../../services/ContentSource.ts"
import type { Cut } from "../images/recipe.ts"
import { type DocumentFile, type DocumentPart, forEachPart } from "./documentFiles.ts"
import { MediaDocumentNotSaved, type Place, placeText } from "./errors.ts"
import { type DocumentPath, format } from "./PathPattern.ts"
import { type FoundLink, type MediaReader, makePlacing, type Placement } from "./placeMedia.ts"
import { isNamed, type Rules } from "./Rules.ts"
import type { LinkPlace, WantedFile } from "./WantedFile.ts"

/** A document on disk, and what its source says of it. */
export interface SourceDocument extends DocumentFile, FetchedDocument {}

/** A document that was looked through. */
export interface SearchedDocument extends SourceDocument {
  /** Its size. */
  readonly bytes: number
  /** Whether it has links that are wanted, or what an earlier run has written. */
  readonly hasMedia: boolean
  /** Whether the source itself has put files beside objects. */
  readonly hasFiles: boolean
}

export interface FoundMedia {
  readonly documents: ReadonlyArray<SearchedDocument>
  /** Each file once. */
  readonly files: ReadonlyArray<WantedFile>
  /** What may be pictures, by what they are and how they are cut. */
  readonly pictures: ReadonlyMap<string, FoundPicture>
  /** Files that the source itself has put beside objects. */
  readonly ownFiles: ReadonlyMap<string, OwnFile>
  readonly warnings: ReadonlyArray<string>
}

/** A file that may be a picture, as it is wanted at some place. */
export interface FoundPicture {
  /** That of the file. */
  readonly identity: string
  readonly cut: Cut
}

/** A file that the source itself has put beside an object. */
export type OwnFile = Pick<WantedFile, "isOptional" | "place">

/** Equal where the same is to be made of the same file. */
export const pictureKey = (identity: string, { crop, focus }: Cut): string =>
  crop === undefined && focus === undefined ? identity : JSON.stringify([identity, focus, crop])

const cutOf = ({ crop, focus }: Cut): Cut => ({
  ...(crop === undefined ? {} : { crop }),
  ...(focus === undefined ? {} : { focus })
})

export interface Finding {
  readonly rules: Rules
  readonly reader?: MediaReader | undefined
  /** Where documents came from that do not say so. */
  readonly url?: string | undefined
  /** Whether sizes are made of pictures. */
  readonly wantsPictures?: boolean
}

/** Looks through documents, one after the other. */
export const findMedia = Effect.fn("Media.find")(function* (
  documents: ReadonlyArray<SourceDocument>,
  finding: Finding
) {
  const files = new Map<string, WantedFile>()
  const pictures = new Map<string, FoundPicture>()
  const ownFiles = new Map<string, OwnFile>()
  const leftOut = new Map<string, number>()

  const searched = yield* Effect.forEach(documents, (document) =>
    Effect.gen(function* () {
      const base = document.url ?? finding.url
      const baseHost = base !== undefined && URL.canParse(base) ? new URL(base).host : undefined
      let hasMedia = false
      let hasFiles = false

      const add = (found: FoundLink, place: Place) => {
        const { address, identity, name, path, size, version } = found
        const known = files.get(identity)
        const isAtServer = Option.exists(address, ({ host }) => host === baseHost)
        if (finding.wantsPictures === true) {
          pictures.set(pictureKey(identity, found), { identity, cut: cutOf(found) })
        }
        const isOptional = isNamed(finding.rules.optional, path)
        if (known === undefined || (known.isOptional && !isOptional)) {
          files.set(identity, {
            url: Option.map(address, ({ href }) => href),
            identity,
            place: linkPlace(place, path),
            name,
            size,
            version: known?.version ?? version,
            isOptional,
            isAtServer: isAtServer || known?.isAtServer === true
          })
        } else if (
          (isAtServer && !known.isAtServer) ||
          (known.version === undefined && version !== undefined)
        ) {
          files.set(identity, {
            ...known,
            isAtServer: isAtServer || known.isAtServer,
            version: known.version ?? version
          })
        }
      }

      const placement = (place: () => Place): Placement => ({
        place: (found) => {
          hasMedia = true
          add(found, place())
          return Option.none()
        },
        sizesOf: (localPath, path) => {
          const isOptional = isNamed(finding.rules.optional, path)
          const known = ownFiles.get(localPath)
          if (known === undefined || (known.isOptional && !isOptional)) {
            ownFiles.set(localPath, { place: linkPlace(place(), path), isOptional })
          }
          hasFiles = true
          return Option.none()
        },
        leftOut: (path) => {
          const text = placeText({ document: document.name, field: withoutNumbers(path) })
          leftOut.set(text, (leftOut.get(text) ?? 0) + 1)
        }
      })
      const bytes = yield* forEachPart(document, (part) =>
        Effect.map(changeAll(document, part, finding, placement), (values) => {
          hasMedia ||= values.some((value, index) => value !== part.values[index])
        })
      )
      return { ...document, bytes, hasMedia, hasFiles } satisfies SearchedDocument
    })
  )
  return {
    documents: searched,
    files: [...files.values()],
    pictures,
    ownFiles,
    warnings: [...leftOut].map(
      ([place, count]) =>
        `${place}: ${countText(count, "link")} without a file, in a list or beside another link; "replace" says where links become objects`
    )
  } satisfies FoundMedia
})

const linkPlace = ({ document, record }: Place, path: DocumentPath): LinkPlace => ({
  document,
  record,
  path: record === undefined ? path : path.slice(1)
})

/** What becomes of the values of a part of a document. */
export const changeAll = (
  document: SourceDocument,
  { first, values }: DocumentPart,
  { reader, rules, url }: Finding,
  placement: (place: () => Place) => Placement
): Effect.Effect<ReadonlyArray<unknown>, MediaDocumentNotSaved> => {
  const base = document.url ?? url
  const change = makePlacing({
    rules,
    ...(base === undefined ? {} : { base }),
    ...(reader === undefined ? {} : { reader })
  })
  const { key = defaultKey, name } = document
  const idOf = recordId(key)
  return Effect.try({
    try: () =>
      values.map((value, index) =>
        Option.match(first, {
          onNone: () =>
            change(
              value,
              [],
              placement(() => ({ document: name }))
            ),
          onSome: (first) =>
            change(
              value,
              [String(first + index)],
              placement(() => ({
                document: name,
                record: Option.getOrElse(idOf(value), () => `number ${first + index + 1}`)
              }))
            )
        })
      ),
    catch: (cause) =>
      new MediaDocumentNotSaved({
        document: name,
        detail:
          cause instanceof RangeError ? "it is nested too deeply" : `it cannot be read: ${String(cause)}`,
        cause
      })
  })
}

/** The same for all items of a list. */
const withoutNumbers = (path: DocumentPath): string =>
  path.map((level) => (/^\d+$/.test(level) ? "*" : format([level]))).join(".")
