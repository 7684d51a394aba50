/**
 * Changing what is in a JSON value.
 */
import * as Predicate from "effect/Predicate"

export type JsonObject = Readonly<Record<string, unknown>>

/** A value with each item or field of it changed; itself where all of them stay. */
export const mapParts = (value: unknown, change: (part: unknown, name: string) => unknown): unknown => {
  if (Array.isArray(value)) {
    const items = value.map((item, index) => change(item, String(index)))
    return items.every((item, index) => item === value[index]) ? value : items
  }
  if (!Predicate.isReadonlyRecord(value)) return value
  // Most objects stay as they are: nothing is made for these.
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

/** A value with every object in it changed, those inside of an object first. */
export const mapObjects = (value: unknown, change: (object: JsonObject) => JsonObject): unknown => {
  const mapped = mapParts(value, (part) => mapObjects(part, change))
  return Predicate.isReadonlyRecord(mapped) ? change(mapped) : mapped
}
