/**
 * What is wrong with the fields of one record: each of a type, or by a schema of the user's.
 */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type { TableRecord } from "../../../services/TableSourceClient.ts"
import type { FieldSchema, TableExpectation } from "./ExpectOptions.ts"
import { type CellTests, fieldTest } from "./fieldTypes.ts"
import { cellText, type Problem, problemsIn } from "./schemaProblems.ts"

/** What is wrong with the fields of a record. */
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
      // A filter of the user's threw.
      Either.getOrElse(() => [{ path: [], expected: String(schema.ast), found: cellText(value) }])
    )
}
