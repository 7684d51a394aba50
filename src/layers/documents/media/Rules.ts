/**
 * Which strings of a document are links to files that are wanted.
 */
import * as Option from "effect/Option"
import { type Address, isAtHost, looksLikeLink, readAddress, typeOfUrl } from "./links.ts"
import type { MediaOptions } from "./MediaOptions.ts"
import { type DocumentPath, matches, type PathPattern, parse } from "./PathPattern.ts"

/** Places in a document: all or none, or those that a pattern names. */
type Places = boolean | ReadonlyArray<PathPattern>

/** Which links are wanted: those that match all given rules. */
export interface Rules {
  readonly hosts: MediaOptions["hosts"] | undefined
  readonly types: MediaOptions["types"] | undefined
  readonly find: ReadonlyArray<PathPattern> | undefined
  /** Patterns for what is one level deeper, such as in each language: they find nothing, but say what is meant. */
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

/** `**.file.url` is `**.file.*.url`. */
const deeper = (text: string): string => text.replace(/(?:\\.|[^\\.])+$/su, "*.$&")

const parsed = (texts: ReadonlyArray<string>): ReadonlyArray<PathPattern> =>
  texts.flatMap((text) => Option.toArray(parse(text)))

/** Reads a string at a path as a link; `None` if it is not a link, or not a wanted one. */
type ReadLink = (text: string, path: DocumentPath) => Option.Option<Address>

/** `base` is where the document came from; `near` gets the pattern for a link that is one level deeper than in `find`. */
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

/** Whether a type is one of those, of which one may end in `/*`. */
export const isOfType = (type: string, types: ReadonlyArray<string>): boolean =>
  types.some((wanted) => wanted === type || (wanted.endsWith("/*") && type.startsWith(wanted.slice(0, -1))))

export const isNamed = (places: Places, path: DocumentPath): boolean =>
  typeof places === "boolean" ? places : isAnyOf(places, path)

const isAnyOf = (patterns: ReadonlyArray<PathPattern>, path: DocumentPath): boolean =>
  patterns.some((pattern) => matches(pattern, path))
