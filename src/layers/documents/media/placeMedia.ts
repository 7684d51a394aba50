/**
 * Finding links in a document, and writing where their files are.
 *
 * An object that has a link gets `localPath` beside it; a string that is to be replaced becomes `{ url, localPath }`. Nothing
 * else changes. What was written by an earlier run is taken back first, so that twice is once.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { Size } from "../images/Images.ts"
import { type Cut, isImagePath } from "../images/recipe.ts"
import { type JsonObject, mapParts } from "../jsonValues.ts"
import type { Refresh } from "./FileProblem.ts"
import { isMediaPath } from "./fileNames.ts"
import { type Address, identityOf, readAddress } from "./links.ts"
import type { DocumentPath } from "./PathPattern.ts"
import { isNamed, makeReadLink, type Rules } from "./Rules.ts"

/** The file of a vendor's object. */
export interface MediaObject extends Cut {
  /** May be relative. */
  readonly url: string
  /** What the file is called, with its extension. */
  readonly name?: string
  /** The exact one, in bytes. */
  readonly size?: number | undefined
  /** Equal as long as the file is: it is not even asked for then. */
  readonly version?: string
  /** Where its file is in the folder of the source, if the vendor fixes that: it is not asked for while it has the same size. */
  readonly localPath?: string
  /** Whether that is written beside it. Default true. */
  readonly writesPath?: boolean
  /** Gives a fresh link, where the one before it has expired. Default the link is the only one. */
  readonly refresh?: Refresh
}

/** Where an object is in a document. */
export interface Whereabouts {
  readonly document: string
  /** It begins with the number of the record where the document is a list. */
  readonly path: DocumentPath
  /** The objects around it, the outermost first. */
  readonly parents: ReadonlyArray<JsonObject>
  /** The record that a key of the document is from, where it was made of records. */
  readonly recordOf?: ((key: string) => string | undefined) | undefined
}

/** Reads an object of a vendor as an object about a file; `None` for other objects. */
export type MediaReader = (value: JsonObject, at: Whereabouts) => Option.Option<MediaObject>

/** A link that is wanted, or a file that the source itself has put beside an object. */
export interface FoundLink extends Omit<MediaObject, "url"> {
  /** Where the source itself has put the file, in its folder. */
  readonly ownPath?: string
  readonly address: Address
  /** Equal for links to the same file. */
  readonly identity: string
  /** The path of the string, or of the object that a reader has read. */
  readonly path: DocumentPath
}

/** The identity of a file that the source itself has: no address is like it. */
export const ownIdentity = (localPath: string): string => `./${localPath}`

/** What is written beside a link. */
export interface Placed {
  readonly localPath?: string
  /** Smaller pictures of a picture. */
  readonly sizes?: ReadonlyArray<Size> | undefined
}

export interface Placing extends Pick<Whereabouts, "document" | "recordOf"> {
  readonly rules: Rules
  /** Where the document came from. */
  readonly base?: string | undefined
  readonly reader?: MediaReader | undefined
  /** Told of the pattern for a link that is one level deeper than `find` says. */
  readonly near?: (pattern: string) => void
}

export interface Placement {
  /** What is known of the file of a link; nothing is written where it is nowhere. */
  readonly place: (found: FoundLink) => Option.Option<Placed>
  /** Told of links that get no file: others beside one in the same object, and items of lists that are not replaced. */
  readonly leftOut: (path: DocumentPath) => void
}

/** Gives what writes into the values of a document; `at` is where in it they are. A value in which nothing changes stays itself. */
export const makePlacing = ({ base, document, near, reader = Option.none, recordOf, rules }: Placing) => {
  const readLink = makeReadLink(rules, base, near)
  const hasRules = (rules.find ?? rules.hosts ?? rules.types) !== undefined

  const isReplaced = (path: DocumentPath): boolean =>
    isNamed(rules.replace, path) && !(rules.replace === true && path.at(-1) === "url")

  /** The string that an earlier run has replaced, or the value. */
  const withoutReplacement = (value: unknown, path: DocumentPath): unknown =>
    isReplacement(value) && isReplaced(path) && Option.isSome(readLink(value.url, path)) ? value.url : value

  return (value: unknown, at: DocumentPath, { leftOut, place }: Placement): unknown => {
    const path = [...at]
    const parents: Array<JsonObject> = []

    /** Changes all parts of a value, each at its own path. */
    const visitParts = (value: unknown, visit: (part: unknown, name: string) => unknown): unknown =>
      mapParts(value, (part, name) => {
        if (!hasRules && typeof part !== "object") return part
        path.push(name)
        const visited = visit(withoutReplacement(part, path), name)
        path.pop()
        return visited
      })

    const found = (text: string, address: Address): FoundLink => ({
      address,
      identity: Option.match(address, { onNone: () => text, onSome: identityOf }),
      path: [...path]
    })

    const replacement = (text: string, address: Address): unknown =>
      Option.match(place(found(text, address)), {
        onNone: () => text,
        onSome: (placed) => ({ ...placed, url: text })
      })

    const visitItem = (value: unknown): unknown => {
      if (!Predicate.isString(value)) return visit(value)
      return Option.match(readLink(value, path), {
        onNone: () => value,
        onSome: (address) => {
          if (isReplaced(path)) return replacement(value, address)
          leftOut([...path])
          return value
        }
      })
    }

    const visitObject = (written: JsonObject): unknown => {
      const object = withoutPlaced(written)
      const { localPath } = object
      const isTaken = Object.hasOwn(object, "localPath")
      const read = isTaken ? Option.none() : reader(object, { document, path, parents, recordOf })
      const links: Array<NamedLink> = []

      const visitField = (value: unknown, name: string): unknown => {
        if (!Predicate.isString(value)) return visit(value)
        const address = isTaken || Option.isSome(read) ? Option.none() : readLink(value, path)
        if (Option.isNone(address)) return value
        if (isReplaced(path)) return replacement(value, address.value)
        links.push({ name, link: found(value, address.value) })
        return value
      }

      parents.push(object)
      const visited = visitParts(object, visitField)
      parents.pop()
      if (isTaken && Predicate.isString(localPath)) {
        const own = { ownPath: localPath, address: Option.none(), identity: ownIdentity(localPath) }
        return withPlaced(visited, place({ ...own, path: [...path] }))
      }
      const link = Option.match(read, {
        onNone: () => chosen(links),
        onSome: ({ url, ...more }) =>
          more.localPath === undefined
            ? Option.map(readAddress(url, base), (address) => ({ ...found(url, address), ...more }))
            : Option.some({
                ...found(url, Option.flatten(readAddress(url, undefined))),
                ...more,
                identity: ownIdentity(more.localPath)
              })
      })
      return withPlaced(visited, Option.flatMap(link, place))
    }

    /** The link that the `localPath` of an object is for; the others are left out. */
    const chosen = (links: ReadonlyArray<NamedLink>): Option.Option<FoundLink> => {
      const [first, ...others] = links.length > 1 ? [...links].sort(byName) : links
      for (const { link } of others) leftOut(link.path)
      return Option.map(Option.fromNullable(first), ({ link }) => link)
    }

    const visit = (value: unknown): unknown =>
      Predicate.isReadonlyRecord(value) ? visitObject(value) : visitParts(value, visitItem)

    return visitItem(withoutReplacement(value, path))
  }
}

interface NamedLink {
  readonly name: string
  readonly link: FoundLink
}

/** `url` is the first, whatever the others are called. */
const byName = (a: NamedLink, b: NamedLink): number =>
  Number(b.name === "url") - Number(a.name === "url") || (a.name < b.name ? -1 : 1)

/** An object without what an earlier run has written into it. */
const withoutPlaced = (object: JsonObject): JsonObject => {
  if (!Object.hasOwn(object, "localPath")) return object
  const names = [...(isPlaced(object) ? ["localPath"] : []), ...(hasOurSizes(object) ? ["sizes"] : [])]
  return names.length === 0
    ? object
    : Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))
}

const isPlaced = ({ localPath }: JsonObject): boolean =>
  Predicate.isString(localPath) && isMediaPath(localPath)

const hasOurSizes = ({ sizes }: JsonObject): boolean =>
  Array.isArray(sizes) &&
  sizes.length > 0 &&
  sizes.every(
    (size) =>
      Predicate.isReadonlyRecord(size) && Predicate.isString(size.localPath) && isImagePath(size.localPath)
  )

/** A string that an earlier run has replaced. */
const isReplacement = (value: unknown): value is { readonly url: string } =>
  Predicate.isReadonlyRecord(value) &&
  Predicate.isString(value.url) &&
  isPlaced(value) &&
  Object.keys(withoutPlaced(value)).length === 1

/** What is placed stands where it does in sorted JSON; the order of the rest stays, and so does what has its name. */
const withPlaced = (object: unknown, placed: Option.Option<Placed>): unknown => {
  if (Option.isNone(placed) || !Predicate.isReadonlyRecord(object)) return object
  const entries = Object.entries(object)
  for (const [name, value] of Object.entries(placed.value)) {
    if (Object.hasOwn(object, name)) continue
    const next = entries.findIndex(([other]) => other > name)
    entries.splice(next === -1 ? entries.length : next, 0, [name, value])
  }
  return Object.fromEntries(entries)
}
