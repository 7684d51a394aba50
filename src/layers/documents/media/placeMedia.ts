/**
 * Finds links in a document, and writes the paths of their files.
 *
 * An object with a link gets `localPath` beside it; a string to be replaced becomes `{ url, localPath }`. Nothing
 * else changes. The additions of an earlier run are removed first, so that two runs give the same result.
 */
import { constVoid } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { makeWriting } from "../budget.ts"
import type { Size } from "../images/Images.ts"
import { type Cut, isImagePath } from "../images/recipe.ts"
import { type JsonObject, setOwn } from "../jsonValues.ts"
import type { Refresh } from "./FileProblem.ts"
import {
  type Address,
  identityOf,
  isNamed,
  makeReadLink,
  type Rules,
  readAddress,
  withoutSignatures
} from "./links.ts"
import { isMediaPath } from "./mediaTypes.ts"
import type { DocumentPath, Trail } from "./PathPattern.ts"

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

/** The record of a place in an object that was made from records: `name[1]` may come from a record of its own. */
export const rowOf = (
  recordOf: Whereabouts["recordOf"],
  [key = "", item = ""]: DocumentPath
): string | undefined => recordOf?.(`${key}[${item}]`) ?? recordOf?.(key)

/** Reads an object of a vendor as an object about a file; `None` for other objects. */
export type MediaReader = (value: JsonObject, at: Whereabouts) => Option.Option<MediaObject>

/** A wanted link, or a file that the source itself has put beside an object. */
export interface FoundLink extends Omit<MediaObject, "url"> {
  /** The path of the file in the folder, if the source itself has put it there. */
  readonly ownPath?: string
  readonly address: Address
  /** Equal for links to the same file. */
  readonly identity: string
  /** The path of the string, or of the object that a reader has read. It changes as the visit goes on. */
  readonly path: DocumentPath
  /** The same place below the visited value; `undefined` for the value itself. */
  readonly trail: Trail | undefined
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
  /** Called with the path of a link to a picture, film or sound that `find` does not match. */
  readonly elsewhere?: (path: DocumentPath) => void
  /** Called with each text that is no link to a wanted file, and its field: the first name on the way there. */
  readonly text?: ((text: string, field: string) => void) | undefined
  /** Default: nothing of an object is volatile. */
  readonly lasting?: Lasting | undefined
  /** Whether the signatures of links are volatile. Default false. */
  readonly areLinksSigned?: boolean
  /** Whether names are sorted. Default false. */
  readonly sorts?: boolean
  /** Whether files are wanted: then the additions of an earlier run are removed. Default true. */
  readonly isWanted?: boolean
}

/** Returns an object without its volatile parts. Its inner objects have lost theirs before. */
export type Lasting = (object: JsonObject, at: Pick<Whereabouts, "document" | "parents" | "path">) => unknown

export interface Placement {
  /** The fields for a link; `undefined` if it has no file, and nothing is written. */
  readonly place: (found: FoundLink) => Placed | undefined
  /** Called for links without a file: further links in the same object, and items of lists that are not replaced. */
  readonly leftOut: (trail: Trail | undefined) => void
}

/** A value after the visit. An unchanged value stays the same object. */
export interface Visited {
  readonly saved: unknown
  /** The saved value without its volatile parts. */
  readonly stable: unknown
}

/** A list or an object while its parts are visited. The copies are made with the first change. */
type Frame = ListFrame | ObjectFrame

interface Visiting<Copy> {
  readonly length: number
  next: number
  trail: Trail | undefined
  saved: Copy | undefined
  stable: Copy | undefined
}

interface ListFrame extends Visiting<Array<unknown>> {
  readonly list: ReadonlyArray<unknown>
}

interface ObjectFrame extends Visiting<Record<string, unknown>> {
  readonly list: undefined
  readonly object: JsonObject
  readonly names: ReadonlyArray<string>
  readonly read: MediaObject | undefined
  readonly links: Array<NamedLink>
}

const listFrame = (list: ReadonlyArray<unknown>): ListFrame => ({
  list,
  length: list.length,
  next: 0,
  trail: undefined,
  saved: undefined,
  stable: undefined
})

const partOf = (frame: Frame): unknown =>
  frame.list === undefined ? frame.object[frame.names[frame.next] ?? ""] : frame.list[frame.next]

/** Ends the visit of the next part. */
const keep = (frame: Frame, saved: unknown, stable: unknown, before = partOf(frame)): void => {
  const index = frame.next++
  if (frame.list !== undefined) {
    if (saved !== before) frame.saved ??= [...frame.list]
    if (frame.saved !== undefined) frame.saved[index] = saved
    if (stable !== saved) frame.stable ??= [...(frame.saved ?? frame.list)]
    if (frame.stable !== undefined) frame.stable[index] = stable
    return
  }
  const name = frame.names[index] ?? ""
  if (saved !== before) frame.saved ??= { ...frame.object }
  if (frame.saved !== undefined) setOwn(frame.saved, name, saved)
  if (stable !== saved) frame.stable ??= { ...(frame.saved ?? frame.object) }
  if (frame.stable !== undefined) setOwn(frame.stable, name, stable)
}

/** The same for all values of a document. */
interface Settings extends Pick<Placing, "base" | "document" | "lasting" | "recordOf" | "rules"> {
  readonly areLinksSigned: boolean
  readonly isWanted: boolean
  readonly sorts: boolean
  readonly reader: MediaReader
  readonly text: NonNullable<Placing["text"]>
  readonly readLink: ReturnType<typeof makeReadLink>
  readonly spend: ReturnType<typeof makeWriting>
  /** Whether texts may be links to wanted files. */
  readonly hasRules: boolean
  readonly looksAtTexts: boolean
}

/** The visit of one value. Its path and its frames change as it goes on. */
interface Visit {
  readonly settings: Settings
  readonly placement: Placement
  /** How many levels of the path are outside of the value. */
  readonly outside: number
  readonly path: Array<string>
  readonly parents: Array<JsonObject>
  readonly frames: Array<Frame>
  /** How many of the objects around are about files. */
  read: number
}

/**
 * Returns the one visit of the values of a document, for their links, their order and their volatile parts; `at` is
 * the path of a value. It pauses after each 1,000 parts, and throws `Refused`.
 */
export const makePlacing = (placing: Placing) => {
  const { areLinksSigned = false, elsewhere = constVoid, isWanted = true } = placing
  const { reader = Option.none, rules, sorts = false, text = constVoid } = placing
  const hasRules = (rules.find ?? rules.hosts ?? rules.types) !== undefined
  const settings: Settings = {
    ...placing,
    areLinksSigned,
    isWanted,
    reader,
    sorts,
    text,
    readLink: makeReadLink(rules, placing.base, elsewhere),
    spend: makeWriting(),
    hasRules,
    looksAtTexts: hasRules || areLinksSigned
  }
  return (value: unknown, at: DocumentPath, placement: Placement): Generator<void, Visited> => {
    const root = listFrame([value])
    const visit = {
      settings,
      placement,
      outside: at.length,
      path: [...at],
      parents: [],
      frames: [root],
      read: 0
    }
    return visiting(visit, root, value)
  }
}

function* visiting(visit: Visit, root: ListFrame, value: unknown): Generator<void, Visited> {
  const { frames, path, settings } = visit
  const { areLinksSigned, hasRules, looksAtTexts, spend } = settings
  for (let frame: Frame | undefined = root; frame !== undefined; ) {
    if (frame.next === frame.length) {
      const { saved, stable }: Visited = end(visit, frame)
      frames.pop()
      const outer: Frame | undefined = frames.at(-1)
      if (frames.length > 1) path.pop()
      if (outer !== undefined) keep(outer, saved, stable)
      frame = outer
      continue
    }
    const name = frame.list === undefined ? (frame.names[frame.next] ?? "") : String(frame.next)
    let part = partOf(frame)
    if (spend(part, name, frames.length)) yield
    const isText = Predicate.isString(part)
    if (isText ? !looksAtTexts : part === null || typeof part !== "object") {
      if (Predicate.isString(part)) noLink(visit, part, name)
      keep(frame, part, part, part)
      continue
    }
    if (frames.length > 1) path.push(name)
    part = withoutReplacement(visit, part)
    if (Predicate.isString(part)) {
      const saved = hasRules ? visitText(visit, frame, part, name) : noLink(visit, part, name)
      keep(frame, saved, areLinksSigned ? withoutSignatures(saved) : saved)
      if (frames.length > 1) path.pop()
    } else if (Predicate.isObject(part)) {
      const inner = frameOf(visit, part)
      frames.push(inner)
      frame = inner
    }
  }
  const saved = root.saved === undefined ? value : root.saved[0]
  return { saved, stable: root.stable === undefined ? saved : root.stable[0] }
}

const isReplaced = ({ path, settings: { rules } }: Visit): boolean =>
  isNamed(rules.replace, path) && !(rules.replace === true && path.at(-1) === "url")

/** The original string if an earlier run has replaced it, or else the value. */
const withoutReplacement = (visit: Visit, value: unknown): unknown =>
  visit.settings.rules.replace !== false &&
  isReplacement(value) &&
  isReplaced(visit) &&
  visit.settings.readLink(value.url, visit.path) !== undefined
    ? value.url
    : value

const trailOf = (visit: Visit, depth: number): Trail | undefined => {
  const frame = visit.frames[depth]
  if (frame === undefined || depth < 2) return undefined
  frame.trail ??= { parent: trailOf(visit, depth - 1), level: visit.path[visit.outside + depth - 2] ?? "" }
  return frame.trail
}

/** The trail of a part of the innermost frame. */
const trailTo = (visit: Visit, level: string): Trail | undefined =>
  visit.frames.length === 1 ? undefined : { parent: trailOf(visit, visit.frames.length - 1), level }

const foundAt = ({ path }: Visit, text: string, address: Address, trail: Trail | undefined): FoundLink => ({
  address,
  identity: address === "unknown" ? text : identityOf(address),
  path,
  trail
})

const noLink = ({ frames, outside, path, read, settings }: Visit, text: string, name: string): string => {
  if (read === 0)
    settings.text(text, frames.length === 1 ? "" : frames.length === 2 ? name : (path[outside] ?? ""))
  return text
}

const visitText = (visit: Visit, frame: Frame, text: string, name: string): unknown => {
  const { path, placement, settings } = visit
  if (frame.list === undefined && (frame.read !== undefined || name === "localPath"))
    return noLink(visit, text, name)
  const address = settings.readLink(text, path)
  if (address === undefined) return noLink(visit, text, name)
  if (isReplaced(visit)) {
    const placed = placement.place(foundAt(visit, text, address, trailTo(visit, name)))
    return placed === undefined ? text : { ...placed, url: text }
  }
  if (frame.list === undefined) frame.links.push({ name, text, address })
  else placement.leftOut(trailTo(visit, name))
  return text
}

const frameOf = (visit: Visit, part: object): Frame => {
  if (Array.isArray(part)) return listFrame(part)
  const { parents, path, settings } = visit
  const object = Predicate.isReadonlyRecord(part) ? part : {}
  const all = Object.keys(object)
  const ours = settings.isWanted ? oursIn(object) : none
  const kept = ours.length === 0 ? all : all.filter((name) => !ours.includes(name))
  const names = settings.sorts && !isInOrder(kept) ? [...kept].sort() : kept
  const { document, recordOf } = settings
  const file = Option.getOrUndefined(settings.reader(object, { document, path, parents, recordOf }))
  if (file !== undefined) visit.read++
  const saved = names === all ? undefined : {}
  parents.push(object)
  const { length } = names
  return {
    list: undefined,
    object,
    names,
    read: file,
    links: [],
    length,
    next: 0,
    trail: undefined,
    saved,
    stable: undefined
  }
}

/** Ends a frame: the fields of files, and then the volatile parts. */
const end = (visit: Visit, frame: Frame): Visited => {
  if (frame.list !== undefined) {
    const saved = frame.saved ?? frame.list
    return { saved, stable: frame.stable ?? saved }
  }
  const { frames, parents, path, placement, settings } = visit
  const { document, lasting } = settings
  parents.pop()
  const { links, names, object, read: file } = frame
  if (file !== undefined) visit.read--
  const { localPath } = object
  const trail = trailOf(visit, frames.length - 1)
  const own =
    Predicate.isString(localPath) && names.includes("localPath")
      ? placement.place({
          ownPath: localPath,
          address: "unknown",
          identity: ownIdentity(localPath),
          path,
          trail
        })
      : undefined
  const link = file === undefined ? chosen(visit, links) : linkOf(visit, file, trail)
  const linked = link && placement.place(link)
  const placed = link?.writesPath === false ? own : (own ?? linked) && { ...linked, ...own }
  if (file === undefined && links.length > 0) path.pop()
  const saved = withPlaced(frame.saved ?? object, placed)
  const stable = frame.stable === undefined ? saved : withPlaced(frame.stable, placed)
  return { saved, stable: lasting === undefined ? stable : lasting(stable, { document, path, parents }) }
}

const linkOf = (
  visit: Visit,
  { url, ...more }: MediaObject,
  trail: Trail | undefined
): FoundLink | undefined => {
  const { localPath } = more
  const address = readAddress(url, localPath === undefined ? visit.settings.base : undefined)
  return localPath !== undefined
    ? { ...foundAt(visit, url, address ?? "unknown", trail), ...more, identity: ownIdentity(localPath) }
    : address && { ...foundAt(visit, url, address, trail), ...more }
}

/** The link for the `localPath` of an object, at whose path the visit is then. The other links are left out. */
const chosen = (visit: Visit, links: ReadonlyArray<NamedLink>): FoundLink | undefined => {
  const [first, ...others] = links.length > 1 ? [...links].sort(byName) : links
  for (const { name } of others) visit.placement.leftOut(trailTo(visit, name))
  if (first === undefined) return undefined
  visit.path.push(first.name)
  return foundAt(visit, first.text, first.address, trailTo(visit, first.name))
}

interface NamedLink {
  readonly name: string
  readonly text: string
  readonly address: Address
}

/** `url` comes first, before all other names. */
const byName = (a: NamedLink, b: NamedLink): number =>
  Number(b.name === "url") - Number(a.name === "url") || (a.name < b.name ? -1 : 1)

const isInOrder = (names: ReadonlyArray<string>): boolean =>
  names.every((name, index) => index === 0 || (names[index - 1] ?? "") < name)

const none: ReadonlyArray<string> = []

/** The fields that an earlier run has written. */
const oursIn = (object: JsonObject): ReadonlyArray<string> =>
  Object.hasOwn(object, "localPath")
    ? [...(isPlaced(object) ? ["localPath"] : none), ...(hasOurSizes(object) ? ["sizes"] : none)]
    : none

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
  Object.keys(value).length - oursIn(value).length === 1

/** Inserts the fields in sorted position. Existing fields are never moved or overwritten. */
const withPlaced = (object: JsonObject, placed: Placed | undefined): JsonObject => {
  if (placed === undefined) return object
  const entries = Object.entries(object)
  for (const [name, value] of Object.entries(placed)) {
    if (Object.hasOwn(object, name)) continue
    const next = entries.findIndex(([other]) => other > name)
    entries.splice(next === -1 ? entries.length : next, 0, [name, value])
  }
  return Object.fromEntries(entries)
}
