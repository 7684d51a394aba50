/**
 * Collects the files that documents link to, and the files that the source itself has put beside objects.
 */
import * as Option from "effect/Option"
import { defaultKey, type RecordKey, recordId } from "../../../internal/recordKey.ts"
import type { Warning } from "../../../services/Warning.ts"
import { withinBudget } from "../budget.ts"
import { mistakePlace, type Place, subjectOf, textPlaceOf } from "../Document.ts"
import type { DocumentOnDisk, DocumentPart } from "../documentFile.ts"
import type { Cut } from "../images/recipe.ts"
import { placed, warn } from "../warnings.ts"
import type { LinkPlace, WantedFile } from "./FileProblem.ts"
import { hasCutEntity, isNamed, type Rules } from "./links.ts"
import { type DocumentPath, patternOf, type Trail } from "./PathPattern.ts"
import {
  type FoundLink,
  type Lasting,
  type MediaReader,
  makePlacing,
  type Placement,
  type Placing,
  rowOf,
  type Visited
} from "./placeMedia.ts"

/** The files of documents. */
export interface FoundMedia {
  /** Each file once, by its identity. */
  readonly files: ReadonlyMap<string, WantedFile>
  /** Possible pictures, by their identity and their crop. */
  readonly pictures: ReadonlyMap<string, FoundPicture>
  /** The first link to a picture, film or sound that `find` does not match. */
  readonly elsewhere: { readonly document: string; readonly field: string } | undefined
  readonly warnings: ReadonlyArray<Warning>
}

/** A possible picture, wanted at some place. */
export interface FoundPicture extends Pick<WantedFile, "identity" | "isOptional" | "place"> {
  readonly cut: Cut
  /** Its path in the folder of the source, if the source itself has put it there. */
  readonly ownPath?: string | undefined
}

/** Equal if the same pictures are made from the same file. */
export const pictureKey = ({ crop, focus, identity }: FoundLink): string =>
  crop === undefined && focus === undefined ? identity : JSON.stringify([identity, focus, crop])

type OddLink = "media:entity" | "media:left-out"

/** The links of a field with a mistake, and how many there are. */
interface OddLinks {
  readonly code: OddLink
  readonly field: string
  readonly count: number
}

/** The files to search for. */
export interface Finding {
  /** Whether any files are wanted. */
  readonly isWanted: boolean
  readonly rules: Rules
  readonly reader?: MediaReader | undefined
  /** The address of documents without their own. */
  readonly url?: string | undefined
  /** Whether sizes are made of pictures. */
  readonly wantsPictures: boolean
  /**
   * Whether links count as the same content while they lead to the same file, because servers may sign them anew in
   * each response.
   */
  readonly areLinksSigned: boolean
  /** Removes the volatile parts of an object, such as a counter. Default: there are none. */
  readonly lasting?: Lasting | undefined
}

/** A document to search. */
interface Searched extends Pick<Placing, "recordOf" | "sorts" | "text">, Pick<Place, "document" | "kind"> {
  readonly key?: RecordKey | undefined
  readonly url?: string | undefined
}

/** The one visit of a document, value by value, while it is saved. */
export interface Search {
  /** Visits a value, or the record with this number. It has the paths of files that are known beforehand. */
  readonly look: (value: unknown, number?: number) => Generator<void, Visited>
  readonly found: () => FoundMedia
}

export const makeSearch = (
  { isWanted, rules, url, wantsPictures, ...finding }: Finding,
  { document, key = defaultKey, kind, url: base = url, ...searched }: Searched
): Search => {
  const files = new Map<string, WantedFile>()
  const pictures = new Map<string, FoundPicture>()
  const odd = new Map<string, OddLinks>()
  let elsewhere: FoundMedia["elsewhere"]
  const idOf = recordId(key)
  const host = base !== undefined && URL.canParse(base) ? new URL(base).host : undefined
  const visit = makePlacing({
    ...finding,
    ...searched,
    isWanted,
    rules,
    base,
    document,
    elsewhere: (path) => {
      elsewhere ??= {
        document,
        field: path.map((level) => patternOf({ parent: undefined, level })).join(".")
      }
    }
  })

  const add = (found: FoundLink, place: LinkPlace) => {
    const { address, crop, focus, identity, localPath, ownPath, writesPath = true } = found
    const isOptional = isNamed(rules.optional, found.path)
    if (wantsPictures && writesPath) {
      addFirst(pictures, pictureKey(found), { identity, place, isOptional, cut: { crop, focus }, ownPath })
    }
    if (ownPath !== undefined) return
    addFile(files, {
      url: address === "unknown" ? undefined : address.href,
      identity,
      place,
      name: found.name,
      size: found.size,
      version: found.version,
      localPath,
      refresh: found.refresh,
      isOptional,
      isAtServer: address !== "unknown" && address.host === host
    })
    withinBudget("files", files.size)
  }

  return {
    look: (value, number) => {
      const recordAt = (path: DocumentPath) =>
        number === undefined
          ? rowOf(searched.recordOf, path)
          : Option.getOrElse(idOf(value), () => `number ${number + 1}`)
      const addOdd = (code: OddLink, trail: Trail | undefined) => {
        const levels = [
          ...(number === undefined ? [] : ["*"]),
          ...(trail === undefined ? [] : [patternOf(trail)])
        ]
        const field = levels.join(".")
        const { count } = odd.get(`${code} ${field}`) ?? { count: 0 }
        odd.set(`${code} ${field}`, { code, field, count: count + 1 })
      }
      return visit(value, pathOf(number), {
        place: (found) => {
          if (!isWanted) return undefined
          const { address, localPath, path, trail } = found
          const record = recordAt(path)
          add(found, { document, kind, record, row: textPlaceOf(value)?.row, trail })
          if (address !== "unknown" && hasCutEntity(address)) addOdd("media:entity", trail)
          return localPath === undefined ? undefined : { localPath }
        },
        leftOut: (trail) => addOdd("media:left-out", trail)
      })
    },

    found: () => ({
      files,
      pictures,
      elsewhere,
      warnings: Array.from(odd.values(), ({ code, count, field }) =>
        placed(mistakePlace({ document, kind, field }))(warn(code, subjectOf({ document, field }), { count }))
      )
    })
  }
}

/** The files of several documents. */
export const merged = (all: ReadonlyArray<FoundMedia>): FoundMedia => {
  const files = new Map<string, WantedFile>()
  const pictures = new Map<string, FoundPicture>()
  for (const found of all) {
    for (const file of found.files.values()) addFile(files, file)
    for (const [key, picture] of found.pictures) addFirst(pictures, key, picture)
  }
  return {
    files,
    pictures,
    elsewhere: all.find(({ elsewhere }) => elsewhere !== undefined)?.elsewhere,
    warnings: all.flatMap(({ warnings }) => warnings)
  }
}

/** Whether the paths of files are written into the document after the files are there. */
export const isChangedByFiles = ({ files, pictures }: FoundMedia): boolean =>
  pictures.size > 0 || [...files.values()].some(({ localPath }) => localPath === undefined)

/**
 * Returns the function that writes the paths of files into the parts of a document. It throws if they are nested too
 * deeply.
 */
export const makeChange = (
  { name, url: base }: DocumentOnDisk["about"],
  { reader, rules, url }: Finding,
  place: Placement["place"]
): ((part: DocumentPart) => Generator<void, ReadonlyArray<unknown>>) => {
  const change = makePlacing({ rules, base: base ?? url, document: name, reader })
  const placement = { place, leftOut: () => {} }
  return function* ({ first, values }) {
    const changed: Array<unknown> = []
    for (const [index, value] of values.entries()) {
      const number = Option.getOrUndefined(Option.map(first, (first) => first + index))
      changed.push((yield* change(value, pathOf(number), placement)).saved)
    }
    return changed
  }
}

const pathOf = (number: number | undefined): DocumentPath => (number === undefined ? [] : [String(number)])

/** Keeps the first required link, or else the first optional one. */
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

const addFile = (files: Map<string, WantedFile>, wanted: WantedFile): void => {
  const known = files.get(wanted.identity)
  const file = addFirst(files, wanted.identity, wanted)
  files.set(wanted.identity, {
    ...file,
    version: known?.version ?? wanted.version,
    isAtServer: known?.isAtServer === true || wanted.isAtServer
  })
}
