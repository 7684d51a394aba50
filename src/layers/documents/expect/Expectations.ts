/**
 * The expectations about the tables of a source, the records that are left out, and the verdict on fetched tables.
 *
 * Tables without expectations are not checked. Violations of all tables are reported together, so that an editor sees
 * them at once.
 */
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { mistake } from "../../../internal/mistake.ts"
import { countText } from "../../../internal/readable.ts"
import { defaultKey, recordId } from "../../../internal/recordKey.ts"
import type { DocumentSchema, PreviousContent } from "../../../services/ContentSource.ts"
import { SourceError } from "../../../services/SourceError.ts"
import type { Warning } from "../../../services/Warning.ts"
import { violationText } from "../../status/contentText.ts"
import { type Change, changed, type Document, fileBefore, textPlaceOf } from "../Document.ts"
import { readKeys, readRecords } from "../documentFile.ts"
import type { JsonObject } from "../jsonValues.ts"
import { notice, placed, warn } from "../warnings.ts"
import { expectedSchema, type TableExpectation, typedRecord } from "./ExpectOptions.ts"
import {
  type CheckedTable,
  judged,
  makeTableCheck,
  maxListed,
  maxNames,
  placeOf,
  recordPlace,
  type SavedNames,
  type TableCheck,
  type Verdict,
  wrongOf
} from "./TableCheck.ts"

export type Expectations = ReturnType<typeof makeExpectations>

type Checked = Pick<Document<unknown>, "name" | "file">

/** The expectations about tables, by the names of the tables. */
export const makeExpectations = (
  expect: Readonly<Record<string, TableExpectation>>,
  tables: Pick<CheckedTable, "isAttachment" | "isFile" | "kind" | "similar" | "view">
) => {
  const tooMany = new Map<string, TooManyLeftOut>()
  const expectationOf = (table: string) => Option.getOrUndefined(Record.get(expect, table))
  const checked = ({ file, name }: Checked) => ({ table: name, file, ...tables })

  return {
    /** The document with the numbers, `true` and `false` of texts, where they are expected. */
    typed: <E>(document: Document<E>): Document<E> => {
      const typed = typedRecord(expectationOf(document.name) ?? {})
      if (typed === undefined) return document
      const change = { records: (page: ReadonlyArray<unknown>) => page.map(typed), value: typed }
      return {
        ...document,
        content: changed(document.content, Effect.succeed({ ...change, keys: identity, end: Effect.void }))
      }
    },

    /** The document without the records that may be left out. The fields of `links` are not checked. */
    leaveOut: <E>(
      document: Document<E>,
      links: ReadonlyArray<string>,
      fieldsOf: LeavingOut["fieldsOf"]
    ): Document<E> => {
      const { fields, leaveOut: share = 0 } = expectationOf(document.name) ?? {}
      if (share === 0 || fields === undefined) return document
      const { name } = document
      const leavingOut = Effect.sync(() =>
        begin(document, {
          share,
          check: makeTableCheck({ holds: "records", unjudged: links, ...checked(document) }, { fields }),
          fieldsOf,
          ended: (found) => (found === undefined ? tooMany.delete(name) : tooMany.set(name, found))
        })
      )
      return { ...document, content: changed(document.content, leavingOut) }
    },

    /** A new check of a table, for each time that it is read. */
    begin: (document: Checked, holds: CheckedTable["holds"]) =>
      Option.map(Record.get(expect, document.name), (expectation) =>
        makeTableCheck({ holds, ...checked(document) }, expectation)
      ),

    /** The verdict on a table. `previous` reads the names of the table in the last version. */
    end: Effect.fnUntraced(function* <R>(
      { file, name: table }: Checked,
      check: Option.Option<TableCheck>,
      previous: Effect.Effect<Option.Option<SavedNames>, never, R>
    ) {
      const leftOut = tooMany.get(table)
      const ended = leftOut === undefined ? Option.getOrUndefined(check) : leftOut.check
      if (ended === undefined) return noViolations
      const verdict = ended.end(ended.needsPrevious() ? Option.getOrUndefined(yield* previous) : undefined)
      if (leftOut === undefined) return verdict
      const { count, total } = leftOut
      const share = expect[table]?.leaveOut ?? 0
      const beyond = judged({ table, kind: tables.kind, file }, "expect:mistakes", {
        most: mostOf(share, total),
        total,
        count
      })
      return { ...verdict, violations: [beyond, ...verdict.violations] }
    })
  }
}

/** How many records are named in warnings. */
const maxNamed = 100

/** More records fail the check than may be left out. */
interface TooManyLeftOut {
  readonly check: TableCheck
  /** The number of these records. */
  readonly count: number
  /** The number of all records. */
  readonly total: number
}

/** How records of a table are left out. */
interface LeavingOut {
  /** The largest share of the records, from 0 to 1. */
  readonly share: number
  readonly check: TableCheck
  readonly fieldsOf: (record: JsonObject) => JsonObject
  /** Called at the end of each read; `undefined` if few enough records are left out. */
  readonly ended: (tooMany: TooManyLeftOut | undefined) => void
}

/** Leaves out the records that fail the check. A document that is one value stays as it is. */
const begin = (
  { file: name, key }: Document<unknown>,
  { check, ended, fieldsOf, share }: LeavingOut
): Change => {
  const idOf = recordId(key ?? defaultKey)
  const warnings: Array<Warning> = []
  let total = 0
  let count = 0

  const isKept = (record: unknown): boolean => {
    total++
    const place = { id: Option.getOrUndefined(idOf(record)), text: textPlaceOf(record) }
    const problems = check.add(Predicate.isReadonlyRecord(record) ? fieldsOf(record) : {}, () => place)
    if (problems.length === 0) return true
    count++
    if (warnings.length < maxNamed) {
      const cells = problems.map((problem) => ({ ...wrongOf(problem), field: placeOf(problem.path) }))
      warnings.push(placed({ name, ...recordPlace(place) })(warn("expect:left-out", "", { cells })))
    }
    return false
  }

  return {
    records: (page) => page.filter(isKept),
    value: identity,
    keys: identity,
    end: Effect.suspend(() => {
      const isTooMany = count > mostOf(share, total)
      ended(isTooMany ? { check, count, total } : undefined)
      if (isTooMany) return Effect.void
      return notice(
        count > maxNamed
          ? [...warnings, placed({ name })(warn("more:left-out", "", { count: count - maxNamed }))]
          : warnings
      )
    })
  }
}

/** How many records may be left out. The small addend is needed because 0.29 of 100 as doubles is less than 29. */
const mostOf = (share: number, total: number): number => Math.floor(share * total + 1e-9)

const noViolations: Verdict = { violations: [], unlisted: 0 }

/** Schemas of documents from their expectations; `keyValueTables` are documents that are one object. */
export const documentSchemas = (
  expect: Readonly<Record<string, TableExpectation>>,
  keyValueTables: ReadonlyArray<string> = []
): Readonly<Record<string, DocumentSchema>> => {
  const schemaOf = (name: string, emptyCells: "left out" | "null") =>
    expectedSchema(
      Option.getOrElse(Record.get(expect, name), () => ({})),
      { attachment: Schema.Unknown, emptyCells }
    )
  return {
    ...Record.map(expect, (_, name) => ({ schemas: [schemaOf(name, "left out")] })),
    ...Object.fromEntries(
      keyValueTables.map((name) => [name, { holds: "value", schemas: [schemaOf(name, "null")] }] as const)
    )
  }
}

/** The names in a file of the last version; `None` if the file is missing or incomplete. */
export const readNames = Effect.fnUntraced(function* (
  previous: Option.Option<PreviousContent>,
  file: string,
  holds: CheckedTable["holds"]
) {
  const names = new Set<string>()
  const namesIn = (file: string) =>
    holds === "keys" ? Stream.map(readKeys(file), Array.of) : Stream.map(readRecords(file), Object.keys)
  return yield* Effect.flatMap(fileBefore(previous, file), (path) =>
    Stream.runFold(namesIn(path), 0, (count, found) => {
      for (const name of found) {
        if (names.size < maxNames) names.add(name)
      }
      return count + 1
    })
  ).pipe(
    Effect.map((count): SavedNames => ({ names, count })),
    Effect.option
  )
})

/** Fails with the violations of all tables, if there are any. */
export const requireExpected = (verdicts: ReadonlyArray<Verdict>): Effect.Effect<void, SourceError> => {
  const [first, ...rest] = verdicts.flatMap(({ violations }) => violations)
  if (first === undefined) return Effect.void
  const all = Array.prepend(rest.slice(0, maxListed - 1), first)
  const ofTables = verdicts.reduce((sum, { unlisted }) => sum + unlisted, 0)
  const count = 1 + rest.length - all.length + ofTables
  return new SourceError({
    detail: [
      ...all.map(({ violation }) => violationText(violation)),
      ...(count === 0 ? [] : [`There are ${countText(count, "more violation")}.`])
    ].join("\n"),
    violations: Array.map(all, ({ violation }) => violation),
    mistakes: [
      ...all.map(({ mistake }) => mistake),
      ...(count === 0 ? [] : [mistake("more:mistakes", {}, { count })])
    ]
  })
}
