/**
 * Checking a table while it is read.
 *
 * It owns which violations are reported. Equal violations are counted, and up to 10 different violations are kept. It
 * keeps all expected names of fields and the first 1,000 others; further names count as missing.
 */

import * as Array from "effect/Array"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { closestName } from "../../../internal/closestName.ts"
import { printableLine, quotedName } from "../../../internal/printable.ts"
import { countText } from "../../../internal/readable.ts"
import { defined } from "../../../internal/schemas.ts"
import type { TableRecord } from "../../../services/TableSourceClient.ts"
import type { Violation } from "../../../services/Violation.ts"
import type { Warning } from "../../../services/Warning.ts"
import type { RecordPlace } from "../Document.ts"
import { isInexact } from "../readText.ts"
import { isSpreadsheetError } from "../textMistakes.ts"
import {
  type CellTests,
  type FieldSchema,
  fieldTest,
  formulaError,
  type TableExpectation
} from "./ExpectOptions.ts"

/** The names and the number of records in a saved table. */
export interface SavedNames {
  /** The names of the fields of all records, or all keys. */
  readonly names: ReadonlySet<string>
  /** The number of records or keys. */
  readonly count: number
}

/** The violations of a table. */
export interface Verdict {
  readonly violations: ReadonlyArray<Violation>
  /** The number of further violations. */
  readonly unlisted: number
}

/** Checks the fields of a record, or the keys of a key/value table; `recordOf` returns the record of a field. */
export type CheckFields = (
  fields: TableRecord["fields"],
  recordOf: (field: string) => RecordPlace
) => ReadonlyArray<Problem>

export interface TableCheck {
  /** Returns the problems of these fields alone. */
  readonly add: CheckFields
  /** Whether `end` needs the names of the last version. */
  readonly needsPrevious: () => boolean
  readonly end: (previous: SavedNames | undefined) => Verdict
  /** Warnings about accepted values that are rarely intended. */
  readonly warnings: () => ReadonlyArray<Warning>
}

export interface CheckedTable extends CellTests {
  readonly table: string
  /** Present for a document of a source without tables. */
  readonly kind?: "document" | undefined
  /** `keys` for a key/value table. */
  readonly holds: "records" | "keys"
  /** The view that is read; `null` for the whole table. */
  readonly view: string | null
  /** Fields that are checked elsewhere. Default none. */
  readonly unjudged?: ReadonlyArray<string> | undefined
}

/** How many different violations are kept. */
export const maxListed = 10

/** How many names of fields are kept. */
export const maxNames = 1000

export const makeTableCheck = (
  { holds, kind, table, unjudged = [], view, ...cellTests }: CheckedTable,
  { fields: expected = {}, maxVanishing = 1, minRecords = 0 }: TableExpectation
): TableCheck => {
  const about = { table, ...defined({ kind }) }
  const problemsOf = makeFieldProblems(expected, cellTests)
  const expectedNames = new Set(namesOf(expected))
  const typed = Schema.isSchema(expected)
    ? []
    : Object.keys(expected).filter((name) => !Schema.isSchema(expected[name]))
  const names = new Set<string>()
  const found = new Map<string, Violation>()
  const spreadsheetErrors = new Map<string, { readonly first: string; readonly count: number }>()
  let unlisted = 0
  let count = 0

  const addProblem = (
    { expected, found: actual, path }: Problem,
    recordOf: (field: string) => RecordPlace
  ) => {
    const field = printableLine(placeOf(path), maxName)
    const key = JSON.stringify([field, expected])
    const known = found.get(key)
    const { id, text } = recordOf(String(path[0] ?? ""))
    if (known !== undefined) {
      const { lines, records } = known
      const isNamed = lines !== undefined && text !== undefined && lines.length < maxListed
      found.set(key, {
        ...known,
        ...(isNamed && { lines: [...lines, text.line] }),
        ...(records !== undefined && { records: records + 1 })
      })
    } else if (found.size === maxListed) {
      unlisted++
    } else {
      found.set(key, {
        ...about,
        ...(id !== undefined && { recordId: printableLine(id, maxName) }),
        ...(text && { file: text.file, lines: [text.line] }),
        ...((id !== undefined || text !== undefined) && { records: 1 }),
        ...(field !== "" && { field }),
        expected,
        found: actual
      })
    }
  }

  /** Expected fields that are in no record. */
  const missing = () => (count === 0 ? [] : [...expectedNames].filter((name) => !names.has(name)))

  /** The new field that the missing field may have been renamed to. */
  const renamed = (name: string, previous: SavedNames | undefined): string | undefined => {
    const fresh = [...names].filter((other) => !expectedNames.has(other) && !previous?.names.has(other))
    const gone = missing().filter((other) => previous?.names.has(other))
    const isOnly = gone.length === 1 && gone[0] === name && fresh.length === 1
    return closestName(name, fresh, 1 / 2) ?? (isOnly ? fresh[0] : undefined)
  }

  const renamedHint = (name: string, other: string) =>
    `${quotedName(name)} is missing; ${quotedName(other)} is new: was it renamed?`

  const withHint =
    (previous: SavedNames | undefined) =>
    (violation: Violation): Violation => {
      const name = missing().find((name) => printableLine(name, maxName) === violation.field)
      if (name === undefined) return violation
      const other = renamed(name, previous)
      const hint =
        other === undefined
          ? `No ${holds === "keys" ? "key is" : "record has"} ${quotedName(name)}.${name.includes(".") ? ' "expect" takes names of fields, no paths.' : ""}`
          : renamedHint(name, other)
      return { ...violation, hint }
    }

  /** Optional fields that have vanished since the last version, if a new field looks like them. */
  const vanished = (previous: SavedNames | undefined): ReadonlyArray<Violation> =>
    missing().flatMap((name) => {
      const field = printableLine(name, maxName)
      const isReported = [...found.values()].some((violation) => violation.field === field)
      const hadIt = previous?.names.has(name) === true
      const other = hadIt && !isReported ? renamed(name, previous) : undefined
      if (other === undefined) return []
      const expected = `the field in at least one ${holds === "keys" ? "row" : "record"}, as in the last version`
      return [{ ...about, field, expected, found: "it nowhere", hint: renamedHint(name, other) }]
    })

  const counted = (number: number) => countText(number, holds === "keys" ? "key" : "record")
  const countFound = () => {
    const all = count === 0 ? `no ${holds}` : counted(count)
    return view === null ? all : `${all} in the view ${quotedName(view)}`
  }

  const tooFew = (): ReadonlyArray<Violation> =>
    count < minRecords ? [{ ...about, expected: `at least ${counted(minRecords)}`, found: countFound() }] : []

  const tooFewLeft = (before: number): ReadonlyArray<Violation> => {
    if (before - count <= maxVanishing * before) return []
    const least = Math.ceil(before * (1 - maxVanishing))
    const expected = `at least ${least} of the ${counted(before)} in the last version ("maxVanishing" is ${maxVanishing})`
    return [{ ...about, expected, found: countFound() }]
  }

  return {
    add: (fields, recordOf) => {
      const present = Object.keys(fields)
      count += holds === "keys" ? present.length : 1
      for (const name of present) {
        if (names.size < maxNames || expectedNames.has(name)) names.add(name)
      }
      const problems = problemsOf(fields).filter(({ path: [field] }) => !unjudged.includes(String(field)))
      for (const problem of problems) {
        addProblem(problem, recordOf)
      }
      for (const name of typed) {
        const cell = Object.hasOwn(fields, name) ? fields[name] : undefined
        if (!isSpreadsheetError(cell)) continue
        const known = spreadsheetErrors.get(name)
        const first = known?.first ?? `${quotedName(cell)} in ${recordText(recordOf(name))}`
        spreadsheetErrors.set(name, { first, count: (known?.count ?? 0) + 1 })
      }
      return problems
    },
    needsPrevious: () => maxVanishing < 1 || missing().length > 0,
    end: (previous) => {
      const ofTable = [...tooFew(), ...tooFewLeft(previous?.count ?? 0), ...vanished(previous)]
      return { violations: [...ofTable, ...[...found.values()].map(withHint(previous))], unlisted }
    },
    warnings: () =>
      [...spreadsheetErrors].map(([name, { count, first }]) => ({
        code: "cell:error",
        subject: name,
        text: `${quotedName(name)} is an error of a spreadsheet in ${countText(count, "record")}, ${first} first. It counts as empty, and pages show it`
      }))
  }
}

/** The name of a record in messages. */
export const recordText = ({ id = "", text }: RecordPlace): string =>
  text === undefined ? `the record ${printableLine(id, maxName)}` : `${text.file}, line ${text.line}`

/** The longest name of a field, or id, in messages, in characters. */
const maxName = 100

/** `picture[].type`: the same for all items of a list. */
export const placeOf = (path: ReadonlyArray<PropertyKey>): string =>
  path.reduce<string>(
    (text, key) =>
      typeof key === "number" ? `${text}[]` : text === "" ? String(key) : `${text}.${String(key)}`,
    ""
  )

type ExpectedFields = NonNullable<TableExpectation["fields"]>

/** The names of the fields with an expectation. */
export const namesOf = (expected: ExpectedFields): ReadonlyArray<string> =>
  Schema.isSchema(expected)
    ? AST.getPropertySignatures(AST.encodedAST(expected.ast)).map(({ name }) => String(name))
    : Object.keys(expected)

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
