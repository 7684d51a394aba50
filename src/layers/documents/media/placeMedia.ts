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
import type { JsonObject } from "../mapObjects.ts"
import { isMediaPath } from "./fileNames.ts"
import type { Address } from "./links.ts"
import { identityOf, readAddress } from "./links.ts"
import type { DocumentPath } from "./PathPattern.ts"
import { isNamed, makeReadLink, type Rules } from "./Rules.ts"

/** The file of a vendor's object. */
export interface MediaObject extends Cut {
  /** May be relative. */
  readonly url: string
  /** What the file is called, with its extension. */
  readonly name?: string
  /** The exact one, in bytes. */
  readonly size?: number
  /** Equal as long as the file is: it is not even asked for then. */
  readonly version?: string
}

/** Reads an object of a vendor's as one that is about a file; `None` where it is another one. */
export type MediaReader = (value: JsonObject, path: DocumentPath) => Option.Option<MediaObject>

/** A link that is wanted. */
export interface FoundLink extends Omit<MediaObject, "url"> {
  readonly address: Address
  /** Equal for links to the same file. */
  readonly identity: string
  /** The path of the string, or of the object that a reader has read. */
  readonly path: DocumentPath
}

/** What is written beside a link. */
interface Placed {
  readonly localPath: string
  readonly sizes?: Sizes
}

/** Smaller pictures of a picture, as they stand in a document. */
export type Sizes = ReadonlyArray<Size>

export interface Placing {
  readonly rules: Rules
  /** Where the document came from. */
  readonly base?: string
  readonly reader?: MediaReader
  /** Told of the pattern for a link that is one level deeper than `find` says. */
  readonly near?: (pattern: string) => void
}

export interface Placement {
  /** Where the file of a link is; nothing is written where it is nowhere. */
  readonly place: (found: FoundLink) => Option.Option<Placed>
  /** The sizes of a file that the source itself has put beside the object at `path`. */
  readonly sizesOf: (localPath: string, path: DocumentPath) => Option.Option<Sizes>
  /** Told of links that get no file: others beside one in the same object, and items of lists that are not replaced. */
  readonly leftOut: (path: DocumentPath) => void
}

/** Gives what writes into the values of a document; `at` is where in it they are. A value in which nothing changes stays itself. */
export const makePlacing = ({ base, near, reader, rules }: Placing) => {
  const readLink = makeReadLink(rules, base, near)

  const isReplaced = (path: DocumentPath): boolean =>
    isNamed(rules.replace, path) && !(rules.replace === true && path.at(-1) === "url")

  /** The string that an earlier run has replaced, or the value. */
  const withoutReplacement = (value: unknown, path: DocumentPath): unknown =>
    isReplacement(value) && isReplaced(path) && Option.isSome(readLink(value.url, path)) ? value.url : value

  return (value: unknown, at: DocumentPath, { leftOut, place, sizesOf }: Placement): unknown => {
    const path = [...at]

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

    const visitItem = (item: unknown): unknown => {
      const value = withoutReplacement(item, path)
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

    const visitList = (list: ReadonlyArray<unknown>): unknown => {
      let items: Array<unknown> | undefined
      for (let index = 0; index < list.length; index++) {
        path.push(String(index))
        const visited = visitItem(list[index])
        path.pop()
        if (visited !== list[index]) {
          items ??= [...list]
          items[index] = visited
        }
      }
      return items ?? list
    }

    const visitObject = (written: JsonObject): unknown => {
      const object = withoutPlaced(written)
      const isTaken = Object.hasOwn(object, localPathField)
      const read = isTaken
        ? Option.none()
        : Option.flatMap(Option.fromNullable(reader), (read) => read(object, path))
      const links: Array<NamedLink> = []
      let changes: Map<string, unknown> | undefined

      const visitField = (name: string, value: unknown): unknown => {
        if (!Predicate.isString(value)) return visit(value)
        const address = isTaken || Option.isSome(read) ? Option.none() : readLink(value, path)
        if (Option.isNone(address)) return value
        if (isReplaced(path)) return replacement(value, address.value)
        links.push({ name, link: found(value, address.value) })
        return value
      }

      for (const name of Object.keys(object)) {
        path.push(name)
        const visited = visitField(name, withoutReplacement(object[name], path))
        path.pop()
        if (visited !== object[name]) {
          changes ??= new Map()
          changes.set(name, visited)
        }
      }
      const link = Option.orElse(
        Option.flatMap(read, ({ url, ...more }) =>
          Option.map(readAddress(url, base), (address) => ({ ...found(url, address), ...more }))
        ),
        () => chosen(links)
      )
      const placed = isTaken
        ? Option.map(sizesOfOwn(object), (sizes): Partial<Placed> => ({ sizes }))
        : Option.flatMap(link, place)
      return changes === undefined && Option.isNone(placed)
        ? object
        : withChanges(
            object,
            changes ?? new Map(),
            Option.getOrElse(placed, () => ({}))
          )
    }

    const sizesOfOwn = ({ localPath }: JsonObject) =>
      Predicate.isString(localPath) ? sizesOf(localPath, [...path]) : Option.none()

    /** The link that the `localPath` of an object is for; the others are left out. */
    const chosen = (links: ReadonlyArray<NamedLink>): Option.Option<FoundLink> => {
      const [first, ...others] = links.length > 1 ? [...links].sort(byName) : links
      for (const { link } of others) leftOut(link.path)
      return Option.map(Option.fromNullable(first), ({ link }) => link)
    }

    const visit = (value: unknown): unknown =>
      Array.isArray(value) ? visitList(value) : Predicate.isReadonlyRecord(value) ? visitObject(value) : value

    return visitItem(value)
  }
}

interface NamedLink {
  readonly name: string
  readonly link: FoundLink
}

/** `url` is the first, whatever the others are called. */
const byName = (a: NamedLink, b: NamedLink): number =>
  Number(b.name === "url") - Number(a.name === "url") || (a.name < b.name ? -1 : 1)

const localPathField = "localPath"
const sizesField = "sizes"

/** An object without what an earlier run has written into it. */
const withoutPlaced = (object: JsonObject): JsonObject => {
  if (!Object.hasOwn(object, localPathField)) return object
  const names = [...(isPlaced(object) ? [localPathField] : []), ...(hasOurSizes(object) ? [sizesField] : [])]
  return names.length === 0
    ? object
    : Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))
}

const isPlaced = (object: JsonObject): boolean =>
  Predicate.isString(object.localPath) && isMediaPath(object.localPath)

const hasOurSizes = (object: JsonObject): boolean =>
  Array.isArray(object.sizes) &&
  object.sizes.length > 0 &&
  object.sizes.every(
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
const withChanges = (
  object: JsonObject,
  changes: ReadonlyMap<string, unknown>,
  placed: object
): JsonObject => {
  const entries = Object.entries(object).map(([name, value]): readonly [string, unknown] => [
    name,
    changes.has(name) ? changes.get(name) : value
  ])
  for (const [name, value] of Object.entries(placed).filter(([name]) => !Object.hasOwn(object, name))) {
    const next = entries.findIndex(([other]) => other > name)
    entries.splice(next === -1 ? entries.length : next, 0, [name, value])
  }
  return Object.fromEntries(entries)
}
