/**
 * The shape of values of a schema, encoded, as they are saved.
 */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { either, type Field, nothing, type Shape } from "./Shape.ts"

/** Stops recursion, because a schema may contain itself. */
const maxDepth = 10

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
      ...(indexSignatures.length === 0
        ? {}
        : { rest: unionOf(indexSignatures.map(({ type }) => shapeOf(type, depth + 1))) })
    }
  }
}

const mayBeUndefined = (ast: AST.AST): boolean =>
  ast._tag === "UndefinedKeyword" || (ast._tag === "Union" && ast.types.some(mayBeUndefined))
