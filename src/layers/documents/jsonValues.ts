/**
 * JSON values: the order of their names, changes in them, and the results of users' functions as JSON.
 *
 * Saved JSON has sorted names in all objects, so that equal data gives equal bytes. Names that look like array
 * indices come first, as in every JavaScript object.
 */

import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { printableLine } from "../../internal/printable.ts"
import { messageOf } from "../../internal/SerializedError.ts"

/** A value with the names in all its objects sorted. */
export const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) {
    return value.map(sorted)
  }
  return Predicate.isReadonlyRecord(value) ? fill({}, value, Object.keys(value).sort()) : value
}

/** The text of one saved value, with a line break at its end. */
export const savedText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** Adds the values of these names, each sorted. Assignments take half the time of `Object.fromEntries`. */
export const fill = (
  object: Record<string, unknown>,
  value: JsonObject,
  names: ReadonlyArray<string>
): JsonObject => {
  for (const name of names) setOwn(object, name, sorted(value[name]))
  return object
}

/**
 * Returns the function that gives the names of an object: the same list as for the object before if both have equal
 * names, as most records of a table have.
 */
export const makeNamesOf = (): ((object: JsonObject) => ReadonlyArray<string>) => {
  let latest: ReadonlyArray<string> = []
  return (object) => {
    const names = Object.keys(object)
    let same = names.length === latest.length ? 0 : -1
    while (same >= 0 && same < names.length) same = names[same] === latest[same] ? same + 1 : -1
    if (same === -1) latest = names
    return latest
  }
}

/** Sets a field of any name: an assignment to `__proto__` would set the prototype. */
export const setOwn = <A>(object: Record<string, A>, name: string, value: A): void => {
  if (name !== "__proto__") object[name] = value
  else Object.defineProperty(object, name, { configurable: true, enumerable: true, writable: true, value })
}

export type JsonObject = Readonly<Record<string, unknown>>

/** The field or item of this name; `undefined` if there is none. */
export const property = (value: unknown, name: string): unknown =>
  Predicate.hasProperty(value, name) ? value[name] : undefined

/** The value if it is a text; otherwise an empty text. */
export const textOf = (value: unknown): string => (Predicate.isString(value) ? value : "")

/** A value with each item or field changed; the value itself if all of them stay the same. */
export const mapParts = (value: unknown, change: (part: unknown, name: string) => unknown): unknown => {
  if (Array.isArray(value)) {
    const items = value.map((item, index) => change(item, String(index)))
    return items.every((item, index) => item === value[index]) ? value : items
  }
  if (!Predicate.isReadonlyRecord(value)) return value
  // Most objects do not change: no copy is made for them.
  let changed: Array<readonly [string, unknown]> | undefined
  for (const name of Object.keys(value)) {
    const part = value[name]
    const next = change(part, name)
    if (next === part) continue
    changed ??= []
    changed.push([name, next])
  }
  return changed === undefined ? value : { ...value, ...Object.fromEntries(changed) }
}

/** A value with every object in it changed, inner objects first. `parents` are the objects around it. */
export const mapObjects = (
  value: unknown,
  change: (object: JsonObject, parents: ReadonlyArray<JsonObject>) => JsonObject,
  parents: Array<JsonObject> = []
): unknown => {
  if (!Predicate.isReadonlyRecord(value)) return mapParts(value, (part) => mapObjects(part, change, parents))
  parents.push(value)
  const mapped = mapParts(value, (part) => mapObjects(part, change, parents))
  parents.pop()
  return Predicate.isReadonlyRecord(mapped) ? change(mapped, parents) : mapped
}

/** The longest message of a user's function, in characters. */
export const maxDetail = 500

/**
 * The value after it is written and read as JSON: dates become texts. `Left` describes a value that JSON cannot have,
 * `a promise, in "rooms.0"`.
 */
export const asJson = (value: unknown): Either.Either<unknown, string> => {
  if (value === undefined) return Either.left("undefined")
  if (Predicate.isFunction(value) || Predicate.isSymbol(value)) return Either.left(`a ${typeof value}`)
  const read = Either.try({
    try: (): { readonly json: unknown; readonly lost: Lost | undefined } => ({
      json: JSON.parse(JSON.stringify(value)),
      lost: lostIn(value)
    }),
    catch: (cause) => `a value that JSON cannot have: ${printableLine(messageOf(cause), maxDetail)}`
  })
  return Either.flatMap(read, ({ json, lost }) =>
    lost === undefined ? Either.right(json) : Either.left(described(lost))
  )
}

/** A value that JSON would write as `{}`. */
interface Lost {
  readonly value: object
  readonly path: ReadonlyArray<string>
}

const lostIn = (value: unknown): Lost | undefined => {
  if (!Predicate.isObject(value) || Predicate.isFunction(value) || "toJSON" in value) return undefined
  if (!Array.isArray(value) && isLost(value)) return { value, path: [] }
  for (const [name, member] of Object.entries(value)) {
    const lost = lostIn(member)
    if (lost !== undefined) return { ...lost, path: [name, ...lost.path] }
  }
  return undefined
}

const isLost = (value: object): boolean =>
  Predicate.isPromiseLike(value) || Symbol.iterator in value || Symbol.asyncIterator in value

const described = ({ path, value }: Lost): string => {
  const place = path.length === 0 ? "" : `, in "${printableLine(path.join("."), 200)}"`
  return Predicate.isPromiseLike(value)
    ? `a promise${place}: an "await" is missing`
    : `a value of the type ${Object.prototype.toString.call(value).slice(8, -1)}${place}, which JSON cannot have: make it a list`
}
