import * as Option from "effect/Option"
import { countText } from "../../../internal/readable.ts"
import { defaultKey, recordId } from "../../../internal/recordKey.ts"
import type { FetchedDocument } from "../../../services/ContentSource.ts"
import type { Cut } from "../images/recipe.ts"
import { type Place, placeText } from "./errors.ts"
import { type DocumentPath, format } from "./PathPattern.ts"
import { type MediaReader, makePlacing, type Placement } from "./placeMedia.ts"
import { isNamed, type Rules } from "./Rules.ts"
import type { LinkPlace, WantedFile } from "./WantedFile.ts"

/** A document that links are looked for in. */
export interface SearchedDocument extends FetchedDocument {
  /** Its path in the folder of the source. */
  readonly name: string
}

/** Some of what a document has. */
export interface DocumentPart {
  /** Records, or the one value that the document is. */
  readonly values: ReadonlyArray<unknown>
  /** The number of the first record; `None` where the document is no list. */
  readonly first: Option.Option<number>
}

/** What documents have links to. */
export interface FoundMedia {
  /** Each file once, by what tells it from others. */
  readonly files: ReadonlyMap<string, WantedFile>
  /** What may be pictures, by what they are and how they are cut. */
  readonly pictures: ReadonlyMap<string, FoundPicture>
  /** Files that the source itself has put beside objects. */
  readonly ownFiles: ReadonlyMap<string, OwnFile>
  /** The pattern for links that are one level deeper than `find` says, and the document that has them. */
  readonly near: Option.Option<{ readonly document: string; readonly pattern: string }>
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
  /** Told of the pattern for a link that is one level deeper than `find` says. */
  readonly near?: (pattern: string) => void
}

/** Looks through a document, part by part. */
export interface Search {
  readonly look: (part: DocumentPart) => void
  readonly found: () => FoundMedia
}

export const makeSearch = (document: SearchedDocument, finding: Finding): Search => {
  const base = document.url ?? finding.url
  const baseHost = base !== undefined && URL.canParse(base) ? new URL(base).host : undefined
  const files = new Map<string, WantedFile>()
  const pictures = new Map<string, FoundPicture>()
  const ownFiles = new Map<string, OwnFile>()
  const leftOut = new Map<string, number>()

  const placement = (place: () => Place): Placement => ({
    place: (found) => {
      const { address, identity, name, path, size, version } = found
      if (finding.wantsPictures === true) {
        pictures.set(pictureKey(identity, found), { identity, cut: cutOf(found) })
      }
      addFile(files, {
        url: Option.map(address, ({ href }) => href),
        identity,
        place: linkPlace(place(), path),
        name,
        size,
        version,
        isOptional: isNamed(finding.rules.optional, path),
        isAtServer: Option.exists(address, ({ host }) => host === baseHost)
      })
      return Option.none()
    },
    sizesOf: (localPath, path) => {
      const isOptional = isNamed(finding.rules.optional, path)
      addOwnFile(ownFiles, localPath, { place: linkPlace(place(), path), isOptional })
      return Option.none()
    },
    leftOut: (path) => {
      const text = placeText({ document: document.name, field: withoutNumbers(path) })
      leftOut.set(text, (leftOut.get(text) ?? 0) + 1)
    }
  })
  let near: string | undefined
  const change = makeChange(
    document,
    {
      ...finding,
      near: (pattern) => {
        near ??= pattern
      }
    },
    placement
  )

  return {
    look: (part) => {
      change(part)
    },
    found: () => ({
      files,
      pictures,
      ownFiles,
      near: Option.map(Option.fromNullable(near), (pattern) => ({ document: document.name, pattern })),
      warnings: [...leftOut].map(
        ([place, count]) =>
          `${place}: ${countText(count, "link")} without a file, in a list or beside another link; "replace" says where links become objects`
      )
    })
  }
}

/** What all documents have links to. */
export const together = (all: ReadonlyArray<FoundMedia>): FoundMedia => {
  const files = new Map<string, WantedFile>()
  const ownFiles = new Map<string, OwnFile>()
  for (const found of all) {
    for (const file of found.files.values()) addFile(files, file)
    for (const [localPath, file] of found.ownFiles) addOwnFile(ownFiles, localPath, file)
  }
  return {
    files,
    pictures: new Map(all.flatMap(({ pictures }) => [...pictures])),
    ownFiles,
    near: Option.firstSomeOf(all.map(({ near }) => near)),
    warnings: all.flatMap(({ warnings }) => warnings)
  }
}

/** The first place where it must be, or else where it may be missing. */
const addFile = (files: Map<string, WantedFile>, file: WantedFile): void => {
  const known = files.get(file.identity)
  const first = known === undefined || (known.isOptional && !file.isOptional) ? file : known
  files.set(file.identity, {
    ...first,
    version: known?.version ?? file.version,
    isAtServer: file.isAtServer || known?.isAtServer === true
  })
}

const addOwnFile = (files: Map<string, OwnFile>, localPath: string, file: OwnFile): void => {
  const known = files.get(localPath)
  if (known === undefined || (known.isOptional && !file.isOptional)) files.set(localPath, file)
}

const linkPlace = ({ document, record }: Place, path: DocumentPath): LinkPlace => ({
  document,
  record,
  path: record === undefined ? path : path.slice(1)
})

/** Gives what becomes of the values of a part of a document. It throws where they are nested too deeply. */
export const makeChange = (
  { key = defaultKey, name, url }: SearchedDocument,
  { near, reader, rules, url: server }: Finding,
  placement: (place: () => Place) => Placement
): ((part: DocumentPart) => ReadonlyArray<unknown>) => {
  const base = url ?? server
  const change = makePlacing({
    rules,
    ...(base === undefined ? {} : { base }),
    ...(near === undefined ? {} : { near }),
    ...(reader === undefined ? {} : { reader })
  })
  const idOf = recordId(key)
  return ({ first, values }) =>
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
    )
}

/** The same for all items of a list. */
const withoutNumbers = (path: DocumentPath): string =>
  path.map((level) => (/^\d+$/.test(level) ? "*" : format([level]))).join(".")
