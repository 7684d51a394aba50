/**
 * The problems of the fields of one record: checked by types, or by a schema of the user.
 */
import * as Array from "effect/Array"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { printableLine } from "../../../internal/printable.ts"
import type { TableRecord } from "../../../services/TableSourceClient.ts"
import { isInexact } from "../readText.ts"
import type { FieldSchema, TableExpectation } from "./ExpectOptions.ts"
import { type CellTests, fieldTest, formulaError, isSpreadsheetError } from "./ExpectOptions.ts"

/** Returns the problems of the fields of a record. */
export const makeFieldProblems = (
  expected: NonNullable<TableExpectation["fields"]>,
  cellTests: CellTests
): ((fields: TableRecord["fields"]) => ReadonlyArray<Problem>) => {
  if (Schema.isSchema(expected)) {
    return schemaProblems(expected)
  }
  const tests = Object.entries(expected).map(([name, type]) => {
    if (Schema.isSchema(type)) {
      const problems = schemaProblems(type)
      return (cell: unknown) =>
        problems(cell).map((problem): Problem => ({ ...problem, path: [name, ...problem.path] }))
    }
    const { accepts, expected } = fieldTest(type, cellTests)
    return (cell: unknown): ReadonlyArray<Problem> =>
      accepts(cell) ? [] : [{ path: [name], expected, found: cellText(cell) }]
  })
  const names = Object.keys(expected)
  return (fields) =>
    tests.flatMap((test, index) => {
      const name = names[index] ?? ""
      return test(Object.hasOwn(fields, name) ? fields[name] : undefined)
    })
}

const schemaProblems = (schema: FieldSchema) => {
  const decode = ParseResult.decodeUnknownEither(schema, { errors: "all" })
  return (value: unknown): ReadonlyArray<Problem> =>
    Either.try(() => decode(value)).pipe(
      Either.map(Either.match({ onLeft: (issue) => problemsIn(issue), onRight: () => [] })),
      // A filter of the user threw.
      Either.getOrElse(() => [{ path: [], expected: String(schema.ast), found: cellText(value) }])
    )
}

/** A mistake and its place. */
export interface Problem {
  /** Names of fields, and indices of lists. */
  readonly path: ReadonlyArray<PropertyKey>
  readonly expected: string
  readonly found: string
}

/** The mistakes in an issue: for a union, one mistake of the whole; otherwise the mistakes of its parts. */
const problemsIn = (
  issue: ParseResult.ParseIssue,
  path: ReadonlyArray<PropertyKey> = []
): ReadonlyArray<Problem> => {
  switch (issue._tag) {
    case "Pointer":
      return problemsIn(issue.issue, path.concat(issue.path))
    case "Composite":
      return issue.ast._tag === "Union"
        ? [problem(path, String(issue.ast), issue.actual)]
        : Array.ensure(issue.issues).flatMap((part) => problemsIn(part, path))
    case "Refinement":
    case "Transformation":
      return issue.kind === "Predicate"
        ? [problem(path, withMessage(String(issue.ast), issue.issue), issue.actual)]
        : problemsIn(issue.issue, path)
    case "Missing":
      return [problem(path, String(issue.ast.type), undefined)]
    case "Unexpected":
      return [problem(path, "no such field", issue.actual)]
    case "Type":
    case "Forbidden":
      return [problem(path, withMessage(String(issue.ast), issue), issue.actual)]
  }
}

const problem = (path: ReadonlyArray<PropertyKey>, expected: string, found: unknown): Problem => ({
  path,
  expected: printableLine(expected, maxExpected),
  found: cellText(found)
})

/** The message of the filter. */
const withMessage = (expected: string, issue: ParseResult.ParseIssue): string =>
  "message" in issue && issue.message !== undefined ? `${expected} (${issue.message})` : expected

const maxExpected = 200
const maxFound = 80

/** A cell as text for messages. */
export const cellText = (cell: unknown): string => {
  if (typeof cell === "string") {
    if (cell.trim() === "") return "nothing"
    const text = JSON.stringify(printableLine(cell, maxFound))
    return isInexact(cell)
      ? `${text}, which is text because a number would lose digits`
      : isSpreadsheetError(cell)
        ? `${text}, which is an error of a spreadsheet`
        : text
  }
  if (Array.isArray(cell)) {
    return cell.length === 0 ? "nothing" : `a list of ${cell.length}`
  }
  return cell === undefined || cell === null
    ? "nothing"
    : typeof cell === "object"
      ? Option.getOrElse(formulaError(cell), () => "an object")
      : String(cell)
}
