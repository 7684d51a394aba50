/**
 * Collecting what documents have links to, and the files that their source itself has put beside objects.
 */
import * as Option from "effect/Option"
import { countText } from "../../../internal/readable.ts"
import { defaultKey, recordId } from "../../../internal/recordKey.ts"
import { placeText } from "../Document.ts"
import type { DocumentOnDisk, DocumentPart } from "../documentFile.ts"
import type { Cut } from "../images/recipe.ts"
import type { LinkPlace } from "./FileProblem.ts"
import { hasCutEntity } from "./links.ts"
import { type DocumentPath, format } from "./PathPattern.ts"
import { type FoundLink, type MediaReader, makePlacing, type Placement } from "./placeMedia.ts"
import { isNamed, type Rules } from "./Rules.ts"
import type { WantedFile } from "./WantedFile.ts"

/** What documents have links to. */
export interface FoundMedia {
  /** Each file once, by what tells it from others. */
  readonly files: ReadonlyMap<string, WantedFile>
  /** What may be pictures, by what they are and how they are cut. */
  readonly pictures: ReadonlyMap<string, FoundPicture>
  /** The pattern for links that are one level deeper than `find` says, and the document that has them. */
  readonly near: Option.Option<{ readonly document: string; readonly pattern: string }>
  readonly warnings: ReadonlyArray<string>
}

/** A file that may be a picture, as it is wanted at some place. */
export interface FoundPicture extends Pick<WantedFile, "identity" | "isOptional" | "place"> {
  readonly cut: Cut
  /** Where the source itself has put it, in its folder. */
  readonly ownPath?: string | undefined
}

/** Equal where the same is to be made of the same file. */
export const pictureKey = ({ crop, focus, identity }: FoundLink): string =>
  crop === undefined && focus === undefined ? identity : JSON.stringify([identity, focus, crop])

export interface Finding {
  readonly rules: Rules
  readonly reader?: MediaReader | undefined
  /** Where documents came from that do not say so. */
  readonly url?: string | undefined
  /** Whether sizes are made of pictures. */
  readonly wantsPictures: boolean
}

/** Looks through documents, part by part. */
export const makeSearch = ({ reader, rules, url, wantsPictures }: Finding) => {
  const files = new Map<string, WantedFile>()
  const pictures = new Map<string, FoundPicture>()
  const leftOut = new Map<string, number>()
  const cutLinks = new Map<string, number>()
  let near: { readonly document: string; readonly pattern: string } | undefined

  return {
    /** Gives what looks through the parts of a document. It throws where they are nested too deeply. */
    lookThrough: ({ key = defaultKey, name, url: base = url }: DocumentOnDisk["about"]) => {
      const idOf = recordId(key)
      const host = base !== undefined && URL.canParse(base) ? new URL(base).host : undefined
      const visit = makePlacing({
        rules,
        base,
        reader,
        near: (pattern) => {
          near ??= { document: name, pattern }
        }
      })

      const placeOf = (value: unknown, number: number | undefined, path: DocumentPath): LinkPlace =>
        number === undefined
          ? { document: name, path }
          : {
              document: name,
              record: Option.getOrElse(idOf(value), () => `number ${number + 1}`),
              path: path.slice(1)
            }

      const add = (found: FoundLink, place: LinkPlace) => {
        const { address, crop, focus, identity, ownPath } = found
        const isOptional = isNamed(rules.optional, found.path)
        if (wantsPictures) {
          const cut = { ...(crop && { crop }), ...(focus && { focus }) }
          addFirst(pictures, pictureKey(found), { identity, place, isOptional, cut, ownPath })
        }
        if (ownPath !== undefined) return
        const known = files.get(identity)
        const file = addFirst(files, identity, {
          url: Option.map(address, ({ href }) => href),
          identity,
          place,
          name: found.name,
          size: found.size,
          version: found.version,
          isOptional,
          isAtServer: false
        })
        files.set(identity, {
          ...file,
          version: known?.version ?? found.version,
          isAtServer: known?.isAtServer === true || Option.exists(address, (at) => at.host === host)
        })
      }

      return ({ first, values }: DocumentPart): void => {
        for (const [value, number] of numbered(values, first)) {
          visit(value, pathOf(number), {
            place: (found) => {
              add(found, placeOf(value, number, found.path))
              if (Option.exists(found.address, hasCutEntity)) countAt(cutLinks, name, found.path)
              return Option.none()
            },
            leftOut: (path) => {
              countAt(leftOut, name, path)
            }
          })
        }
      }
    },

    found: (): FoundMedia => ({
      files,
      pictures,
      near: Option.fromNullable(near),
      warnings: [
        ...[...leftOut].map(
          ([place, count]) =>
            `${place}: ${countText(count, "link")} without a file, in a list or beside another link; "replace" says where links become objects`
        ),
        ...[...cutLinks].map(
          ([place, count]) =>
            `${place}: ${countText(count, "link")} in which "#" and a number stand in the place of "&": a server is not sent what follows "#", so that different files may look the same. Correct the links, or change them in "steps"`
        )
      ]
    })
  }
}

/** Gives what writes into the parts of a document where its files are. It throws where they are nested too deeply. */
export const makeChange = (
  { url: base }: DocumentOnDisk["about"],
  { reader, rules, url }: Finding,
  place: Placement["place"]
): ((part: DocumentPart) => ReadonlyArray<unknown>) => {
  const change = makePlacing({ rules, base: base ?? url, reader })
  const placement = { place, leftOut: () => {} }
  return ({ first, values }) =>
    numbered(values, first).map(([value, number]) => change(value, pathOf(number), placement))
}

/** Values with the numbers of the records that they are; none where the document is no list. */
const numbered = (values: DocumentPart["values"], first: DocumentPart["first"]) =>
  values.map(
    (value, index) => [value, Option.getOrUndefined(Option.map(first, (first) => first + index))] as const
  )

const pathOf = (number: number | undefined): DocumentPath => (number === undefined ? [] : [String(number)])

/** Adds what was found: the first that must be there counts, or else the first that may be missing. */
const addFirst = <A extends Pick<WantedFile, "isOptional">>(
  all: Map<string, A>,
  key: string,
  found: A
): A => {
  const known = all.get(key)
  const first = known === undefined || (known.isOptional && !found.isOptional) ? found : known
  all.set(key, first)
  return first
}

const countAt = (counts: Map<string, number>, document: string, path: DocumentPath): void => {
  const place = placeText({ document, field: withoutNumbers(path) })
  counts.set(place, (counts.get(place) ?? 0) + 1)
}

/** The same for all items of a list. */
const withoutNumbers = (path: DocumentPath): string =>
  path.map((level) => (/^\d+$/.test(level) ? "*" : format([level]))).join(".")
