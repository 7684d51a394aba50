/**
 * Changing the objects in a value, whatever it is.
 */
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"

export type JsonObject = Readonly<Record<string, unknown>>

/** A value with every object in it changed, those inside of an object first. */
export const mapObjects = (value: unknown, change: (object: JsonObject) => JsonObject): unknown =>
  Array.isArray(value)
    ? value.map((item) => mapObjects(item, change))
    : Predicate.isReadonlyRecord(value)
      ? change(Record.map(value, (part) => mapObjects(part, change)))
      : value
