/**
 * What values look like, as far as it is known: the kinds of values that may stand in a place of a document.
 */
import * as Predicate from "effect/Predicate"

/** `unknown` may be anything; a shape without a kind is one of which nothing was seen. */
export type Shape = "unknown" | Kinds

/** Each kind that a value may be of. */
export interface Kinds {
  /** Any text, or only these. */
  readonly string?: true | ReadonlyArray<string>
  readonly number?: true
  readonly boolean?: true
  readonly null?: true
  /** With what its items are. */
  readonly list?: Shape
  readonly object?: ObjectShape
}

export interface ObjectShape {
  readonly fields: ReadonlyMap<string, Field>
  /** What other fields hold, where there may be others. */
  readonly rest?: Shape
}

export interface Field {
  readonly shape: Shape
  /** `required` by a schema, or in all objects that were seen, or only in some. */
  readonly presence: "required" | "always" | "sometimes"
}

/** More names in one object are no fields but keys. */
export const maxNames = 1000

/** Nothing was seen. */
export const nothing: Shape = {}

/** What is of the one shape or the other. */
export const either = (a: Shape, b: Shape): Shape =>
  a === "unknown" || b === "unknown"
    ? "unknown"
    : {
        ...a,
        ...b,
        ...inBoth("string", a.string, b.string, eitherText),
        ...inBoth("list", a.list, b.list, either),
        ...inBoth("object", a.object, b.object, eitherObject)
      }

/** What is of both shapes: where no kind is in both, the second counts. */
export const both = (a: Shape, b: Shape): Shape => {
  if (a === "unknown" || b === "unknown") return a === "unknown" ? b : a
  const shape: Kinds = {
    ...inBoth("string", a.string, b.string, bothText),
    ...inBoth("number", a.number, b.number, () => true as const),
    ...inBoth("boolean", a.boolean, b.boolean, () => true as const),
    ...inBoth("null", a.null, b.null, () => true as const),
    ...inBoth("list", a.list, b.list, both),
    ...inBoth("object", a.object, b.object, bothObject)
  }
  return hasValues(shape) ? shape : b
}

/**
 * What is expected, and was seen beside it: a kind that is not expected is one more. Where nothing that was seen is of a kind that
 * is expected, it is saved in another form, as numbers in CSV are texts: then what was seen counts.
 */
export const withSeen = (expected: Shape, seen: Shape): Shape => {
  if (expected === "unknown" || seen === "unknown") return expected === "unknown" ? seen : expected
  if (hasValues(seen) && !kinds.some((kind) => expected[kind] !== undefined && seen[kind] !== undefined)) {
    return { ...seen, ...(expected.null ? { null: true } : {}) }
  }
  return {
    ...seen,
    ...expected,
    ...inBoth("list", expected.list, seen.list, withSeen),
    ...inBoth("object", expected.object, seen.object, (object, seen) => withSeenFields(object, seen, false))
  }
}

/** The same of an object; where it is open, fields that are not expected are more of its fields. */
export const withSeenFields = (expected: ObjectShape, seen: ObjectShape, isOpen: boolean): ObjectShape => {
  const fields = new Map(isOpen ? seen.fields : [])
  for (const [name, { presence, shape }] of expected.fields) {
    fields.set(name, { presence, shape: withSeen(shape, seen.fields.get(name)?.shape ?? nothing) })
  }
  const rest = expected.rest ?? (isOpen ? seen.rest : undefined)
  return { fields, ...(rest === undefined ? {} : { rest }) }
}

/** How many fields there are in it, at all depths. */
export const countFields = (shape: Shape): number => {
  if (shape === "unknown") return 0
  const fields = [...(shape.object?.fields.values() ?? [])]
  return (
    fields.reduce((sum, { shape }) => sum + countFields(shape), fields.length) +
    countFields(shape.list ?? "unknown") +
    countFields(shape.object?.rest ?? "unknown")
  )
}

/** Beside `null`. */
const kinds = ["string", "number", "boolean", "list", "object"] as const

export const hasValues = (shape: Kinds): boolean => kinds.some((kind) => shape[kind] !== undefined)

const inBoth = <Kind extends keyof Kinds, A>(
  kind: Kind,
  a: A | undefined,
  b: A | undefined,
  combine: (a: A, b: A) => A
) => (a === undefined || b === undefined ? {} : { [kind]: combine(a, b) })

type Text = NonNullable<Kinds["string"]>

const eitherText = (a: Text, b: Text): Text =>
  a === true || b === true ? true : [...new Set([...a, ...b])].sort()

const bothText = (a: Text, b: Text): Text => (a === true ? b : a)

const eitherObject = (a: ObjectShape, b: ObjectShape): ObjectShape => {
  const fields = new Map<string, Field>()
  for (const [name, field] of a.fields) {
    const other = b.fields.get(name)
    fields.set(name, other === undefined ? { ...field, presence: "sometimes" } : eitherField(field, other))
  }
  for (const [name, field] of b.fields) {
    if (!a.fields.has(name)) fields.set(name, { ...field, presence: "sometimes" })
  }
  return a.rest !== undefined && b.rest !== undefined && fields.size === 0
    ? { fields, rest: either(a.rest, b.rest) }
    : fields.size > maxNames || a.rest !== undefined || b.rest !== undefined
      ? keyed
      : { fields }
}

/** An object that has keys and not fields. */
export const keyed: ObjectShape = { fields: new Map(), rest: "unknown" }

const eitherField = (a: Field, b: Field): Field => ({
  shape: either(a.shape, b.shape),
  presence: a.presence === b.presence ? a.presence : "sometimes"
})

const bothObject = (a: ObjectShape, b: ObjectShape): ObjectShape => {
  const fields = new Map(b.fields)
  for (const [name, field] of a.fields) {
    const other = fields.get(name)
    fields.set(
      name,
      other === undefined
        ? field
        : {
            shape: both(field.shape, other.shape),
            presence: [field.presence, other.presence].includes("required") ? "required" : field.presence
          }
    )
  }
  const rest = a.rest ?? b.rest
  return { fields, ...(rest === undefined ? {} : { rest }) }
}

/** What is deeper is not looked at. */
const maxDepth = 10

/** The shape of a JSON value. */
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
