/**
 * The shape of a JSON value.
 */
import * as Predicate from "effect/Predicate"
import { either, type Field, keyed, maxNames, nothing, type Shape } from "./Shape.ts"

/** What is deeper is not looked at. */
const maxDepth = 10

export const valueShape = (value: unknown, depth = 0): Shape => {
  if (Predicate.isString(value)) return { string: true }
  if (Predicate.isNumber(value)) return { number: true }
  if (Predicate.isBoolean(value)) return { boolean: true }
  if (Array.isArray(value)) {
    return { list: depth === maxDepth ? "unknown" : itemsShape(value, depth + 1) }
  }
  if (Predicate.isReadonlyRecord(value)) {
    const entries = Object.entries(value)
    return depth === maxDepth || entries.length > maxNames
      ? { object: keyed }
      : { object: { fields: new Map(entries.map(([name, cell]) => [name, field(cell, depth + 1)])) } }
  }
  return { null: true }
}

const itemsShape = (items: ReadonlyArray<unknown>, depth: number): Shape =>
  items.reduce<Shape>((shape, item) => either(shape, valueShape(item, depth)), nothing)

const field = (value: unknown, depth: number): Field => ({
  shape: valueShape(value, depth),
  presence: "always"
})
