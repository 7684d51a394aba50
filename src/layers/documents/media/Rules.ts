/**
 * Rules for the links in a document that lead to wanted files.
 */
import * as Option from "effect/Option"
import { type Address, isAtHost, looksLikeLink, readAddress, typeOfUrl } from "./links.ts"
import type { MediaOptions } from "./MediaOptions.ts"
import { type DocumentPath, matches, type PathPattern, parse } from "./PathPattern.ts"

/** Places in a document: all, none, or the places that match a pattern. */
type Places = boolean | ReadonlyArray<PathPattern>

/** The rules for wanted links. A link must match all given rules. */
export interface Rules {
  readonly hosts: MediaOptions["hosts"] | undefined
  readonly types: MediaOptions["types"] | undefined
  readonly find: ReadonlyArray<PathPattern> | undefined
  /** Patterns for links one level deeper, for example in each language: they find nothing, but give a hint. */
  readonly deeper: ReadonlyArray<DeeperPattern>
  readonly replace: Places
  readonly optional: Places
}

export interface DeeperPattern {
  readonly text: string
  readonly pattern: PathPattern
}

export const fromOptions = ({ find, hosts, optional, replace, types }: Partial<MediaOptions>): Rules => ({
  hosts,
  types,
  find: find === undefined ? undefined : parsed(find),
  deeper: (find ?? []).map(deeper).flatMap((text) => parsed([text]).map((pattern) => ({ text, pattern }))),
  replace: placesOf(replace),
  optional: placesOf(optional)
})

const placesOf = (places: true | ReadonlyArray<string> | undefined): Places =>
  places === undefined || places === true ? places === true : parsed(places)

/** `**.file.url` becomes `**.file.*.url`. */
const deeper = (text: string): string => text.replace(/(?:\\.|[^\\.])+$/su, "*.$&")

const parsed = (texts: ReadonlyArray<string>): ReadonlyArray<PathPattern> =>
  texts.flatMap((text) => Option.toArray(parse(text)))

/** Reads a string at a path as a link; `None` if it is no link, or not wanted. */
type ReadLink = (text: string, path: DocumentPath) => Option.Option<Address>

/**
 * `base` is the address of the document; `near` gets the pattern for a link that is one level deeper than in `find`.
 */
export const makeReadLink =
  (
    { deeper, find, hosts, types }: Rules,
    base: string | undefined,
    near?: (pattern: string) => void
  ): ReadLink =>
  (text, path) => {
    const isMeant =
      find === undefined ? (hosts ?? types) !== undefined && looksLikeLink(text) : isAnyOf(find, path)
    if (!isMeant) {
      const meant = near && looksLikeLink(text) && deeper.find(({ pattern }) => matches(pattern, path))
      if (near && meant) near(meant.text)
      return Option.none()
    }
    return Option.filter(readAddress(text, base), (address) =>
      Option.match(address, {
        onNone: () => find !== undefined,
        onSome: (url) =>
          (hosts === undefined || isAtHost(url, hosts)) &&
          (find !== undefined ||
            types === undefined ||
            Option.exists(typeOfUrl(url), (type) => isOfType(type, types)))
      })
    )
  }

/** Whether a type is in the list. An entry may end in `/*`. */
export const isOfType = (type: string, types: ReadonlyArray<string>): boolean =>
  types.some((wanted) => wanted === type || (wanted.endsWith("/*") && type.startsWith(wanted.slice(0, -1))))

export const isNamed = (places: Places, path: DocumentPath): boolean =>
  typeof places === "boolean" ? places : isAnyOf(places, path)

const isAnyOf = (patterns: ReadonlyArray<PathPattern>, path: DocumentPath): boolean =>
  patterns.some((pattern) => matches(pattern, path))
