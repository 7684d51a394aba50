/**
 * JSON text of saved data: equal data gives equal bytes.
 *
 * The names in all objects are sorted. Names that look like array indices come first, as in every JavaScript object. Text of large values is
 * made in parts, each of some milliseconds of work.
 */
import * as Predicate from "effect/Predicate"
import type { JsonObject } from "./mapObjects.ts"

/** A value with the keys of all objects in it sorted. */
export const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) {
    return value.map(sorted)
  }
  return Predicate.isReadonlyRecord(value) ? fill({}, value, Object.keys(value).sort()) : value
}

/** Text with the indentation that all saved JSON has. */
export const savedText = (value: unknown): string => JSON.stringify(value, null, indentation)

const indentation = "  "

/** What becomes of parts of a value before they are written: `sorted`, or nothing. */
export type Order = (value: unknown) => unknown

/** `savedText` of the value in that order, in parts. It throws where the value is nested too deeply. */
export function* savedParts(value: unknown, order: Order, margin = ""): Generator<string> {
  const isDeep = margin.length > maxDepth * indentation.length
  const isLarge = !isDeep && weightOf(value) >= maxWeight
  if (isLarge && Array.isArray(value)) {
    yield "["
    yield* itemParts(value, order, margin)
    yield `\n${margin}]`
  } else if (isLarge && Predicate.isReadonlyRecord(value)) {
    yield "{"
    yield* memberParts(value, order, margin)
    yield `\n${margin}}`
  } else {
    yield withMargin(savedText(order(value)), margin)
  }
}

/** What is between the brackets of an array that is not empty. */
function* itemParts(items: ReadonlyArray<unknown>, order: Order, margin = ""): Generator<string> {
  let separator = ""
  for (const run of runsOf(items)) {
    yield separator
    yield* runParts(run, order, margin)
    separator = ","
  }
}

/** The same of a part that `runsOf` has given. */
export function* runParts(run: ReadonlyArray<unknown>, order: Order, margin = ""): Generator<string> {
  if (run.length === 1) {
    yield `\n${margin}${indentation}`
    yield* savedParts(run[0], order, margin + indentation)
  } else {
    yield withMargin(withoutBrackets(savedText(order(run))), margin)
  }
}

/** What is between the braces of an object. */
function* memberParts(object: JsonObject, order: Order, margin: string): Generator<string> {
  const names = Object.keys(
    Object(order(Object.fromEntries(Object.keys(object).map((name) => [name, null]))))
  )
  let separator = ""
  let written = 0
  for (const run of runsOf(names.map((name) => object[name]))) {
    const runNames = names.slice(written, written + run.length)
    written += run.length
    if (run.length === 1) {
      yield `${separator}\n${margin}${indentation}${JSON.stringify(runNames[0])}: `
      yield* savedParts(run[0], order, margin + indentation)
    } else {
      const members = Object.fromEntries(runNames.map((name, index) => [name, run[index]]))
      yield separator + withMargin(withoutBrackets(savedText(order(members))), margin)
    }
    separator = ","
  }
}

/** What is nested more deeply is written at once: large texts from outside are not. */
const maxDepth = 1000

/** In nodes, some milliseconds of work. */
const maxWeight = 10_000

/** Characters of a text that are as much work as a node. */
const charactersOfNode = 256

/** Parts of a list that are together as heavy as is written at once. What is heavier by itself is its own part. */
export function* runsOf<A>(items: ReadonlyArray<A>): Generator<ReadonlyArray<A>> {
  let start = 0
  let weight = 0
  for (let index = 0; index < items.length; index++) {
    const added = weightOf(items[index])
    if (weight + added >= maxWeight && index > start) {
      yield items.slice(start, index)
      start = index
      weight = 0
    }
    weight += added
  }
  if (start < items.length) yield start === 0 ? items : items.slice(start)
}

/** How many nodes a value has, as far as it is worth counting. */
const weightOf = (value: unknown, most = maxWeight): number => {
  if (typeof value === "string") return 1 + value.length / charactersOfNode
  if (typeof value !== "object" || value === null) return 1
  let weight = 1
  if (Array.isArray(value)) {
    for (const item of value) {
      if (weight >= most) return weight
      weight += weightOf(item, most - weight)
    }
    return weight
  }
  // `Object.values` takes half of the time of what is weighed.
  for (const name in value) {
    if (weight >= most) return weight
    weight += weightOf(Reflect.get(value, name), most - weight)
  }
  return weight
}

const withoutBrackets = (text: string): string => text.slice("[".length, -"\n]".length)

/** Strings in it have no line breaks. */
const withMargin = (text: string, margin: string): string =>
  margin === "" ? text : text.replaceAll("\n", `\n${margin}`)

/** Adds the parts of the value that have these names, each sorted. Assignments take half the time of `Object.fromEntries`. */
export const fill = (
  object: Record<string, unknown>,
  value: JsonObject,
  names: ReadonlyArray<string>
): JsonObject => {
  for (const name of names) {
    if (name === "__proto__") {
      Object.defineProperty(object, name, { ...dataProperty, value: sorted(value[name]) })
    } else {
      object[name] = sorted(value[name])
    }
  }
  return object
}

const dataProperty = { configurable: true, enumerable: true, writable: true }
