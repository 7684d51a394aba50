/**
 * What a schema finds wrong with a cell or a record.
 *
 * Parts of cells may be signed links: of lists and objects no more is shown than what they are.
 */
import * as Array from "effect/Array"
import type * as ParseResult from "effect/ParseResult"
import { isInexact } from "../../../internal/exactNumber.ts"
import { printableLine } from "../../../internal/printable.ts"

/** A mistake, and where it is. */
export interface Problem {
  /** Names of fields, and indices of lists. */
  readonly path: ReadonlyArray<PropertyKey>
  readonly expected: string
  readonly found: string
}

/** The mistakes in an issue: of a union the one of the whole, or else those of its parts. */
export const problemsIn = (
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

/** What the filter says of it. */
const withMessage = (expected: string, issue: ParseResult.ParseIssue): string =>
  "message" in issue && issue.message !== undefined ? `${expected} (${issue.message})` : expected

const maxExpected = 200
const maxFound = 80

/** A cell as it is shown. */
export const cellText = (cell: unknown): string => {
  if (typeof cell === "string") {
    if (cell.trim() === "") return "nothing"
    const text = JSON.stringify(printableLine(cell, maxFound))
    return isInexact(cell) ? `${text}, which is text because a number would lose digits` : text
  }
  if (Array.isArray(cell)) {
    return cell.length === 0 ? "nothing" : `a list of ${cell.length}`
  }
  return cell === undefined || cell === null
    ? "nothing"
    : typeof cell === "object"
      ? "an object"
      : String(cell)
}
