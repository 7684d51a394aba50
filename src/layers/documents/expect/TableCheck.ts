/**
 * Checking a table while it is read.
 *
 * It owns which violations are reported. Equal violations are counted, and up to 10 different violations are kept. It
 * keeps all expected names of fields and the first 1,000 others; further names count as missing.
 */
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { closestMatch } from "leven"
import { printableLine, quotedName } from "../../../internal/printable.ts"
import { countText } from "../../../internal/readable.ts"
import { defined } from "../../../internal/schemas.ts"
import type { TableRecord } from "../../../services/TableSourceClient.ts"
import type { Violation } from "../../../services/Violation.ts"
import type { RecordPlace } from "../Document.ts"
import type { TableExpectation } from "./ExpectOptions.ts"
import { type CellTests, isSpreadsheetError } from "./ExpectOptions.ts"
import { makeFieldProblems, type Problem } from "./fieldProblems.ts"

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
  readonly warnings: () => ReadonlyArray<string>
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
    const isOnly = previous?.names.has(name) === true && missing().length === 1 && fresh.length === 1
    return similar(name, fresh) ?? (isOnly ? fresh[0] : undefined)
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
      [...spreadsheetErrors].map(
        ([name, { count, first }]) =>
          `${quotedName(name)} is an error of a spreadsheet in ${countText(count, "record")}, ${first} first. It counts as empty, and pages show it`
      )
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

/** The closest name, if at most half of the characters differ; case does not count. */
const similar = (name: string, others: ReadonlyArray<string>): string | undefined => {
  const folded = new Map(others.map((other) => [other.toLowerCase().slice(0, maxName), other]))
  const closest = closestMatch(name.toLowerCase().slice(0, maxName), [...folded.keys()], {
    maxDistance: Math.max(1, Math.floor(name.length / 2))
  })
  return closest === undefined ? undefined : folded.get(closest)
}

type ExpectedFields = NonNullable<TableExpectation["fields"]>

/** The names of the fields with an expectation. */
export const namesOf = (expected: ExpectedFields): ReadonlyArray<string> =>
  Schema.isSchema(expected)
    ? AST.getPropertySignatures(AST.encodedAST(expected.ast)).map(({ name }) => String(name))
    : Object.keys(expected)
