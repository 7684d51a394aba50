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
import {
  type Mistake,
  type ViolationCode,
  type ViolationFields,
  violationMistake,
  violationWords
} from "../../../internal/mistake.ts"
import type { Cell, Hint, MistakePlace, WrongCell } from "../../../internal/mistakeParts.ts"
import { printableLine } from "../../../internal/printable.ts"
import type { TableRecord } from "../../../services/TableSourceClient.ts"
import type { Violation } from "../../../services/Violation.ts"
import type { Warning } from "../../../services/Warning.ts"
import { placeOfViolation } from "../../status/contentText.ts"
import type { RecordPlace } from "../Document.ts"
import { isInexact } from "../readText.ts"
import { isSpreadsheetError } from "../textMistakes.ts"
import { warn } from "../warnings.ts"
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

/** A violation, and the mistake that it is. */
export interface Judged {
  readonly violation: Violation
  readonly mistake: Mistake
}

/** The violations of a table. */
export interface Verdict {
  readonly violations: ReadonlyArray<Judged>
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
  /** The file that people edit, if there is one. */
  readonly file?: string | undefined
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

/** A violation, whose hint is known at the end of the table only. */
interface Found {
  readonly wrong: WrongCell
  readonly violation: Violation
}

/** A table, as far as it is read. It changes in place. */
interface ReadTable {
  readonly about: Pick<Violation, "table" | "kind" | "file">
  readonly what: "key" | "record"
  readonly expectedNames: ReadonlySet<string>
  readonly names: Set<string>
  /** By the field and what is expected of it. */
  readonly found: Map<string, Found>
  unlisted: number
  /** The number of records or keys. */
  count: number
}

export const makeTableCheck = (
  { file, holds, kind, table, unjudged = [], view, ...cellTests }: CheckedTable,
  { fields: expected = {}, maxVanishing = 1, minRecords = 0 }: TableExpectation
): TableCheck => {
  const read: ReadTable = {
    about: { table, kind, file },
    what: holds === "keys" ? "key" : "record",
    expectedNames: new Set(namesOf(expected)),
    names: new Set(),
    found: new Map(),
    unlisted: 0,
    count: 0
  }
  const problemsOf = makeFieldProblems(expected, cellTests)
  const typed = Schema.isSchema(expected)
    ? []
    : Object.keys(expected).filter((name) => !Schema.isSchema(expected[name]))
  const spreadsheetErrors = new Map<
    string,
    { readonly first: MistakePlace; readonly cell: string; readonly count: number }
  >()

  return {
    add: (fields, recordOf) => {
      const present = Object.keys(fields)
      read.count += holds === "keys" ? present.length : 1
      for (const name of present) {
        if (read.names.size < maxNames || read.expectedNames.has(name)) read.names.add(name)
      }
      const problems = problemsOf(fields)
        .filter(({ path: [field] }) => !unjudged.includes(String(field)))
        .map((problem) => withError(problem, recordOf))
      for (const problem of problems) {
        addProblem(read, problem, recordOf(String(problem.path[0] ?? "")))
      }
      for (const name of typed) {
        const cell = Object.hasOwn(fields, name) ? fields[name] : undefined
        if (!isSpreadsheetError(cell)) continue
        const known = spreadsheetErrors.get(name)
        const first = { cell, first: recordPlace(recordOf(name)) }
        spreadsheetErrors.set(name, { ...first, ...known, count: (known?.count ?? 0) + 1 })
      }
      return problems
    },
    needsPrevious: () => maxVanishing < 1 || missing(read).length > 0,
    end: (previous) => {
      const { about, count, found, unlisted, what } = read
      const before = previous?.count ?? 0
      const few = { count, what, view }
      const least = Math.ceil(before * (1 - maxVanishing))
      return {
        violations: [
          ...(count < minRecords ? [judged(about, "expect:few", { ...few, least: minRecords })] : []),
          ...(before - count > maxVanishing * before
            ? [judged(about, "expect:vanished", { ...few, before, least })]
            : []),
          ...vanished(read, previous),
          ...[...found.values()].map((violation) => withHint(violation, read, previous))
        ],
        unlisted
      }
    },
    warnings: () =>
      [...spreadsheetErrors].map(([name, error]) =>
        warn("cell:error", name, { name, isSaved: true, ...error })
      )
  }
}

const addProblem = (read: ReadTable, problem: Problem, place: RecordPlace): void => {
  const field = printableLine(placeOf(problem.path), maxName)
  const key = JSON.stringify([field, problem.expected])
  const known = read.found.get(key)
  const row = rowOf(place)
  if (known !== undefined) {
    const { records, rows } = known.violation
    const isNamed = rows !== undefined && row !== undefined && rows.length < maxListed
    read.found.set(key, {
      ...known,
      violation: {
        ...known.violation,
        rows: isNamed ? [...rows, row] : rows,
        records: records === undefined ? undefined : records + 1
      }
    })
  } else if (read.found.size === maxListed) {
    read.unlisted++
  } else {
    const { id } = place
    const wrong = wrongOf(problem)
    read.found.set(key, {
      wrong,
      violation: {
        ...read.about,
        recordId: id === undefined ? undefined : printableLine(id, maxName),
        rows: row && [row],
        records: id === undefined && row === undefined ? undefined : 1,
        field: field || undefined,
        ...violationWords("expect:cell", [wrong])
      }
    })
  }
}

/** Expected fields that are in no record. */
const missing = ({ count, expectedNames, names }: ReadTable): ReadonlyArray<string> =>
  count === 0 ? [] : [...expectedNames].filter((name) => !names.has(name))

/** The new field that the missing field may have been renamed to. */
const renamed = (name: string, read: ReadTable, previous: SavedNames | undefined): string | undefined => {
  const fresh = [...read.names].filter(
    (other) => !read.expectedNames.has(other) && !previous?.names.has(other)
  )
  const gone = missing(read).filter((other) => previous?.names.has(other))
  const isOnly = gone.length === 1 && gone[0] === name && fresh.length === 1
  return closestName(name, fresh, 1 / 2) ?? (isOnly ? fresh[0] : undefined)
}

const withHint = ({ violation, wrong }: Found, read: ReadTable, previous: SavedNames | undefined): Judged => {
  const name = missing(read).find((name) => printableLine(name, maxName) === violation.field)
  if (name === undefined) return judged(violation, "expect:cell", wrong)
  const other = renamed(name, read, previous)
  const hint: Hint = other === undefined ? { is: "missing", name } : { is: "renamed", name, other }
  const { recordId, records, rows, ...place } = violation
  // All rows have it.
  return judged(rows === undefined ? violation : place, "expect:cell", { ...wrong, hint })
}

/** Optional fields that have vanished since the last version, if a new field looks like them. */
const vanished = (read: ReadTable, previous: SavedNames | undefined): ReadonlyArray<Judged> => {
  const { about, found, what } = read
  return missing(read).flatMap((name) => {
    const field = printableLine(name, maxName)
    const isReported = [...found.values()].some(({ violation }) => violation.field === field)
    const hadIt = previous?.names.has(name) === true
    const other = hadIt && !isReported ? renamed(name, read, previous) : undefined
    return other === undefined ? [] : [judged({ ...about, field }, "expect:renamed", { name, other, what })]
  })
}

/** An error of a spreadsheet was saved as empty. */
const withError = (problem: Problem, recordOf: (field: string) => RecordPlace): Problem => {
  const field = String(problem.path[0] ?? "")
  const cell = problem.cell.is === "nothing" ? recordOf(field).text?.errors?.[field] : undefined
  return cell === undefined ? problem : { ...problem, cell: cellOf(cell) }
}

/** A violation of this code. */
export const judged = <C extends ViolationCode>(
  place: Omit<Violation, "expected" | "found">,
  code: C,
  ...fields: ViolationFields[C]
): Judged => {
  const violation = { ...place, ...violationWords(code, fields) }
  return { violation, mistake: violationMistake(code, placeOfViolation(violation), fields) }
}

const rowOf = ({ id, text }: RecordPlace) =>
  text && { row: text.row, id: id === undefined ? undefined : printableLine(id, maxName) }

/** The place of a record in messages. */
export const recordPlace = (place: RecordPlace): MistakePlace => {
  const row = rowOf(place)
  return row === undefined ? { record: printableLine(place.id ?? "", maxName) } : { rows: [row] }
}

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
    const { accepts, expected, hint } = fieldTest(type, cellTests)
    return (cell: unknown): ReadonlyArray<Problem> =>
      accepts(cell) ? [] : [{ path: [name], expected, cell: cellOf(cell), hint: () => hint(cell) }]
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
      Either.getOrElse(() => [problem([], String(schema.ast), value)])
    )
}

/** A mistake and its place. */
export interface Problem extends Omit<WrongCell, "hint"> {
  /** Names of fields, and indices of lists. */
  readonly path: ReadonlyArray<PropertyKey>
  /** To compare the names of many files takes long. */
  readonly hint?: () => Hint | undefined
}

/** The wrong cell for messages. */
export const wrongOf = ({ cell, expected, hint }: Problem): WrongCell => ({ cell, expected, hint: hint?.() })

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
  expected: { schema: printableLine(expected, maxExpected) },
  cell: cellOf(found)
})

/** The message of the filter. */
const withMessage = (expected: string, issue: ParseResult.ParseIssue): string =>
  "message" in issue && issue.message !== undefined ? `${expected} (${issue.message})` : expected

const maxExpected = 200
const maxFound = 80

/** A cell for messages. */
const cellOf = (cell: unknown): Cell => {
  if (typeof cell === "string") {
    const text = JSON.stringify(printableLine(cell, maxFound))
    return cell.trim() === ""
      ? { is: "nothing", text: "" }
      : { is: isInexact(cell) ? "digits" : isSpreadsheetError(cell) ? "error" : "text", text }
  }
  if (Array.isArray(cell)) {
    return { is: cell.length === 0 ? "nothing" : "list", text: String(cell.length) }
  }
  return cell === undefined || cell === null
    ? { is: "nothing", text: "" }
    : typeof cell === "object"
      ? Option.match(formulaError(cell), {
          onNone: () => ({ is: "object", text: "" }),
          onSome: (text) => ({ is: "text", text })
        })
      : { is: "text", text: String(cell) }
}
