/**
 * Finds links in a document, and writes the paths of their files.
 *
 * An object with a link gets `localPath` beside it; a string to be replaced becomes `{ url, localPath }`. Nothing
 * else changes. The additions of an earlier run are removed first, so that two runs give the same result.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { Size } from "../images/Images.ts"
import { type Cut, isImagePath } from "../images/recipe.ts"
import { type JsonObject, mapParts } from "../jsonValues.ts"
import type { Refresh } from "./FileProblem.ts"
import { type Address, identityOf, isNamed, makeReadLink, type Rules, readAddress } from "./links.ts"
import { isMediaPath } from "./mediaTypes.ts"
import type { DocumentPath } from "./PathPattern.ts"

/** The file of a vendor's object. */
export interface MediaObject extends Cut {
  /** May be relative. */
  readonly url: string
  /** The name of the file, with its extension. */
  readonly name?: string | undefined
  /** The exact size in bytes. */
  readonly size?: number | undefined
  /** Equal as long as the file is the same: then no request is sent. */
  readonly version?: string | undefined
  /** Its path in the folder of the source, if the vendor fixes it. While its size is the same, no request is sent. */
  readonly localPath?: string
  /** Whether this path is written beside it. Default true. */
  readonly writesPath?: boolean
  /** Returns a fresh link if the link has expired. Default: there is no other link. */
  readonly refresh?: Refresh
}

/** The place of an object in a document. */
export interface Whereabouts {
  readonly document: string
  /** It begins with the number of the record if the document is a list. */
  readonly path: DocumentPath
  /** The objects around it, the outermost first. */
  readonly parents: ReadonlyArray<JsonObject>
  /** The record of a key of the document, if the document was made from records. */
  readonly recordOf?: ((key: string) => string | undefined) | undefined
}

/** Reads an object of a vendor as an object about a file; `None` for other objects. */
export type MediaReader = (value: JsonObject, at: Whereabouts) => Option.Option<MediaObject>

/** A wanted link, or a file that the source itself has put beside an object. */
export interface FoundLink extends Omit<MediaObject, "url"> {
  /** The path of the file in the folder, if the source itself has put it there. */
  readonly ownPath?: string
  readonly address: Address
  /** Equal for links to the same file. */
  readonly identity: string
  /** The path of the string, or of the object that a reader has read. */
  readonly path: DocumentPath
}

/** The identity of a file of the source itself. No address has this form. */
export const ownIdentity = (localPath: string): string => `./${localPath}`

/** The fields that are written beside a link. */
export interface Placed {
  readonly localPath?: string
  /** Smaller pictures of a picture. */
  readonly sizes?: ReadonlyArray<Size> | undefined
}

export interface Placing extends Pick<Whereabouts, "document" | "recordOf"> {
  readonly rules: Rules
  /** The address of the document. */
  readonly base?: string | undefined
  readonly reader?: MediaReader | undefined
  /** Called with the pattern for a link that is one level deeper than in `find`. */
  readonly near?: (pattern: string) => void
}

export interface Placement {
  /** The fields for a link; `undefined` if it has no file, and nothing is written. */
  readonly place: (found: FoundLink) => Placed | undefined
  /** Called for links without a file: further links in the same object, and items of lists that are not replaced. */
  readonly leftOut: (path: DocumentPath) => void
}

/**
 * Returns the function that writes into the values of a document; `at` is the path of a value. An unchanged value
 * stays the same object.
 */
export const makePlacing = ({ base, document, near, reader = Option.none, recordOf, rules }: Placing) => {
  const readLink = makeReadLink(rules, base, near)
  const hasRules = (rules.find ?? rules.hosts ?? rules.types) !== undefined

  const isReplaced = (path: DocumentPath): boolean =>
    isNamed(rules.replace, path) && !(rules.replace === true && path.at(-1) === "url")

  /** The original string if an earlier run has replaced it, or else the value. */
  const withoutReplacement = (value: unknown, path: DocumentPath): unknown =>
    isReplacement(value) && isReplaced(path) && readLink(value.url, path) !== undefined ? value.url : value

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
      identity: address === "unknown" ? text : identityOf(address),
      path: [...path]
    })

    const replacement = (text: string, address: Address): unknown => {
      const placed = place(found(text, address))
      return placed === undefined ? text : { ...placed, url: text }
    }

    const visitItem = (value: unknown): unknown => {
      if (!Predicate.isString(value)) return visit(value)
      const address = readLink(value, path)
      if (address === undefined) return value
      if (isReplaced(path)) return replacement(value, address)
      leftOut([...path])
      return value
    }

    const visitObject = (written: JsonObject): unknown => {
      const object = withoutPlaced(written)
      const { localPath } = object
      const hasOwnPath = Object.hasOwn(object, "localPath")
      const read = hasOwnPath
        ? undefined
        : Option.getOrUndefined(reader(object, { document, path, parents, recordOf }))
      const links: Array<NamedLink> = []

      const visitField = (value: unknown, name: string): unknown => {
        if (!Predicate.isString(value)) return visit(value)
        const address = hasOwnPath || read !== undefined ? undefined : readLink(value, path)
        if (address === undefined) return value
        if (isReplaced(path)) return replacement(value, address)
        links.push({ name, link: found(value, address) })
        return value
      }

      parents.push(object)
      const visited = visitParts(object, visitField)
      parents.pop()
      if (hasOwnPath && Predicate.isString(localPath)) {
        const own = { ownPath: localPath, address: "unknown" as const, identity: ownIdentity(localPath) }
        return withPlaced(visited, place({ ...own, path: [...path] }))
      }
      const link = read === undefined ? chosen(links) : linkOf(read)
      return withPlaced(visited, link && place(link))
    }

    const linkOf = ({ url, ...more }: MediaObject): FoundLink | undefined => {
      const { localPath } = more
      const address = readAddress(url, localPath === undefined ? base : undefined)
      return localPath !== undefined
        ? { ...found(url, address ?? "unknown"), ...more, identity: ownIdentity(localPath) }
        : address && { ...found(url, address), ...more }
    }

    /** The link for the `localPath` of an object. The other links are left out. */
    const chosen = (links: ReadonlyArray<NamedLink>): FoundLink | undefined => {
      const [first, ...others] = links.length > 1 ? [...links].sort(byName) : links
      for (const { link } of others) leftOut(link.path)
      return first?.link
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

/** `url` comes first, before all other names. */
const byName = (a: NamedLink, b: NamedLink): number =>
  Number(b.name === "url") - Number(a.name === "url") || (a.name < b.name ? -1 : 1)

/** An object without the fields that an earlier run has written. */
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
export const isReplacement = (
  value: unknown
): value is { readonly localPath: string; readonly url: string } =>
  Predicate.isReadonlyRecord(value) &&
  Predicate.isString(value.url) &&
  isPlaced(value) &&
  Object.keys(withoutPlaced(value)).length === 1

/** Inserts the fields in sorted position. Existing fields are never moved or overwritten. */
const withPlaced = (object: unknown, placed: Placed | undefined): unknown => {
  if (placed === undefined || !Predicate.isReadonlyRecord(object)) return object
  const entries = Object.entries(object)
  for (const [name, value] of Object.entries(placed)) {
    if (Object.hasOwn(object, name)) continue
    const next = entries.findIndex(([other]) => other > name)
    entries.splice(next === -1 ? entries.length : next, 0, [name, value])
  }
  return Object.fromEntries(entries)
}
