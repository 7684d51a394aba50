/**
 * Values in JSON, by paths with dots.
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { printableLine } from "../../../internal/printable.ts"
import { countText } from "../../../internal/readable.ts"

/**
 * The value, `null` where a part of the path is, or what there is where the path leads nowhere. A name that has dots itself (`@odata.nextLink`) is found at the end of a path.
 */
export const valueAt = (json: unknown, path: string): Either.Either<unknown, string> => {
  const find = (value: unknown, place: string, rest: string): Either.Either<unknown, string> => {
    if (value === null) return Either.right(null)
    if (!Predicate.isObject(value)) return Either.left(whatIs(value, place))
    const name = Object.hasOwn(value, rest) ? rest : (rest.split(".", 1)[0] ?? "")
    if (!Object.hasOwn(value, name)) return Either.left(whatIs(value, place))
    const member: unknown = Reflect.get(value, name)
    return name === rest
      ? Either.right(member)
      : find(member, place === "" ? name : `${place}.${name}`, rest.slice(name.length + 1))
  }
  return find(json, "", path)
}

const maxNames = 12

/** `it has: data, meta`, `its "data" is a list of 3 items`. */
export const whatIs = (value: unknown, place = ""): string =>
  `${place === "" ? "it" : `its "${printableLine(place, 100)}"`} ${kindOf(value)}`

const kindOf = (value: unknown): string => {
  if (Array.isArray(value)) return `is a list of ${countText(value.length, "item")}`
  if (!Predicate.isObject(value)) return `is ${value === null ? "null" : `a ${typeof value}`}`
  const names = Object.keys(value)
  const shown = names.slice(0, maxNames).map((name) => printableLine(name, 40))
  return names.length === 0
    ? "is an empty object"
    : `has: ${shown.join(", ")}${names.length > maxNames ? ", …" : ""}`
}
