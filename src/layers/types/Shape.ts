/**
 * Shapes: the known kinds of values at a place in a document, from values and from schemas.
 */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"

/** `unknown` may be any value. In a shape without a kind, no value was seen. */
export type Shape = "unknown" | Kinds

/** The kinds that a value may have. */
export interface Kinds {
  /** Any text, or only these texts. */
  readonly string?: true | ReadonlyArray<string>
  readonly number?: true
  readonly boolean?: true
  readonly null?: true
  /** The shape of its items. */
  readonly list?: Shape
  readonly object?: ObjectShape
}

export interface ObjectShape {
  readonly fields: ReadonlyMap<string, Field>
  /** The shape of other fields, if other fields are allowed. */
  readonly rest?: Shape | undefined
}

export interface Field {
  readonly shape: Shape
  /** Required by a schema, or seen in all objects, or seen in some. */
  readonly presence: "required" | "always" | "sometimes"
}

/** If an object has more names, they are keys and not fields. */
export const maxNames = 1000

/** The shape before any value was seen. */
export const nothing: Shape = {}

/** The union of two shapes. */
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

/** The intersection of two shapes. If they have no common kind, the second counts. */
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
 * Adds the seen kinds to the expected shape. If no seen kind is expected, the value is saved in another form, as numbers in CSV are
 * texts: then the seen shape counts.
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

/** As `withSeen`, for an object. If it is open, unexpected fields are added to its fields. */
export const withSeenFields = (expected: ObjectShape, seen: ObjectShape, isOpen: boolean): ObjectShape => {
  const fields = new Map(isOpen ? seen.fields : [])
  for (const [name, { presence, shape }] of expected.fields) {
    fields.set(name, { presence, shape: withSeen(shape, seen.fields.get(name)?.shape ?? nothing) })
  }
  const rest = expected.rest ?? (isOpen ? seen.rest : undefined)
  return { fields, rest }
}

/** The number of fields at all depths. */
export const countFields = (shape: Shape): number => {
  if (shape === "unknown") return 0
  const fields = [...(shape.object?.fields.values() ?? [])]
  return (
    fields.reduce((sum, { shape }) => sum + countFields(shape), fields.length) +
    countFields(shape.list ?? "unknown") +
    countFields(shape.object?.rest ?? "unknown")
  )
}

/** Whether there are kinds except `null`. */
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

/** An object with keys instead of fields. */
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
  return { fields, rest }
}

/** Deeper values are not inspected, and a schema may contain itself. */
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

/** The shape of values of a schema, encoded, as they are saved. */
export const schemaShape = ({ ast }: Schema.Schema.AnyNoContext): Shape => shapeOf(AST.encodedAST(ast), 0)

const shapeOf = (ast: AST.AST, depth: number): Shape => {
  if (depth > maxDepth) return "unknown"
  switch (ast._tag) {
    case "StringKeyword":
    case "TemplateLiteral":
      return { string: true }
    case "NumberKeyword":
      return { number: true }
    case "BooleanKeyword":
      return { boolean: true }
    case "Literal":
      return literalShape(ast.literal)
    case "Enums":
      return unionOf(ast.enums.map(([, value]) => literalShape(value)))
    case "UndefinedKeyword":
    case "VoidKeyword":
    case "NeverKeyword":
      return nothing
    case "Union":
      return unionOf(ast.types.map((type) => shapeOf(type, depth)))
    case "TupleType":
      return {
        list: unionOf([...ast.elements, ...ast.rest].map(({ type }) => shapeOf(type, depth + 1)))
      }
    case "TypeLiteral":
      return objectShape(ast, depth)
    case "Refinement":
      return shapeOf(ast.from, depth)
    case "Suspend":
      return shapeOf(ast.f(), depth + 1)
    default:
      return "unknown"
  }
}

const unionOf = (shapes: ReadonlyArray<Shape>): Shape => shapes.reduce(either, nothing)

const literalShape = (literal: AST.LiteralValue): Shape =>
  Predicate.isString(literal)
    ? { string: [literal] }
    : Predicate.isNumber(literal)
      ? { number: true }
      : Predicate.isBoolean(literal)
        ? { boolean: true }
        : literal === null
          ? { null: true }
          : "unknown"

const objectShape = ({ indexSignatures, propertySignatures }: AST.TypeLiteral, depth: number): Shape => {
  // `Schema.Object` and `{}`.
  if (propertySignatures.length + indexSignatures.length === 0) return "unknown"
  const fields = new Map(
    propertySignatures.flatMap(
      ({ isOptional, name, type }): ReadonlyArray<[string, Field]> =>
        Predicate.isString(name)
          ? [
              [
                name,
                {
                  shape: shapeOf(type, depth + 1),
                  presence: isOptional || mayBeUndefined(type) ? "sometimes" : "required"
                }
              ]
            ]
          : []
    )
  )
  return {
    object: {
      fields,
      rest:
        indexSignatures.length === 0
          ? undefined
          : unionOf(indexSignatures.map(({ type }) => shapeOf(type, depth + 1)))
    }
  }
}

const mayBeUndefined = (ast: AST.AST): boolean =>
  ast._tag === "UndefinedKeyword" || (ast._tag === "Union" && ast.types.some(mayBeUndefined))
