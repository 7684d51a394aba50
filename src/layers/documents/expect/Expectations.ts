/**
 * The expectations about the tables of a source, and the verdict on fetched tables.
 *
 * Tables without expectations are not checked. Violations of all tables are reported together, so that an editor sees
 * them at once.
 */
import * as Path from "@effect/platform/Path"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { countText } from "../../../internal/readable.ts"
import type { DocumentSchema, PreviousContent } from "../../../services/ContentSource.ts"
import { Violation } from "../../../services/Violation.ts"
import { violationText } from "../../status/violationText.ts"
import type { Document } from "../Document.ts"
import { readKeys, readRecords } from "../documentFile.ts"
import type { TableExpectation } from "./ExpectOptions.ts"
import { expectedSchema } from "./fieldTypes.ts"
import { type LeavingOut, leavingOut, mostOf, type TooManyLeftOut } from "./leaveOut.ts"
import {
  type CheckedTable,
  makeTableCheck,
  maxListed,
  maxNames,
  type SavedNames,
  type TableCheck,
  type Verdict
} from "./TableCheck.ts"

export type Expectations = ReturnType<typeof makeExpectations>

/** The expectations about tables, by the names of the tables. */
export const makeExpectations = (
  expect: Readonly<Record<string, TableExpectation>>,
  tables: Pick<CheckedTable, "isAttachment" | "isFile" | "kind" | "view">
) => {
  const tooMany = new Map<string, TooManyLeftOut>()

  return {
    /** The document without the records that may be left out. The fields of `links` are not checked. */
    leaveOut: <E>(
      document: Document<E>,
      links: ReadonlyArray<string>,
      fieldsOf: LeavingOut["fieldsOf"]
    ): Document<E> => {
      const { fields, leaveOut = 0 } = Option.getOrElse(
        Record.get(expect, document.name),
        () => noExpectation
      )
      return leaveOut === 0 || fields === undefined
        ? document
        : leavingOut(document, {
            share: leaveOut,
            begin: () =>
              makeTableCheck(
                { table: document.name, holds: "records", unjudged: links, ...tables },
                { fields }
              ),
            fieldsOf,
            ended: Option.match({
              onNone: () => tooMany.delete(document.name),
              onSome: (found) => tooMany.set(document.name, found)
            })
          })
    },

    /** A new check of a table, for each time that it is read. */
    begin: (table: string, holds: CheckedTable["holds"]) =>
      Option.map(Record.get(expect, table), (expectation) =>
        makeTableCheck({ table, holds, ...tables }, expectation)
      ),

    /** The verdict on a table. `previous` reads the names of the table in the last version. */
    end: Effect.fnUntraced(function* <R>(
      table: string,
      check: Option.Option<TableCheck>,
      previous: Effect.Effect<Option.Option<SavedNames>, never, R>
    ) {
      const leftOut = tooMany.get(table)
      const judged = leftOut === undefined ? Option.getOrUndefined(check) : leftOut.check
      if (judged === undefined) return noViolations
      const verdict = judged.end(judged.needsPrevious() ? yield* previous : Option.none())
      if (leftOut === undefined) return verdict
      const { count, total } = leftOut
      const share = expect[table]?.leaveOut ?? 0
      const beyond = {
        table,
        ...(tables.kind && { kind: tables.kind }),
        expected: `at most ${mostOf(share, total)} of ${countText(total, "record")} to be left out ("leaveOut" is ${share})`,
        found: `${countText(count, "record")} with mistakes`
      }
      return { ...verdict, violations: [beyond, ...verdict.violations] }
    })
  }
}

const noExpectation: TableExpectation = {}

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
  const path = yield* Path.Path
  const content = Option.filter(previous, ({ files }) => Object.hasOwn(files, file))
  const names = new Set<string>()
  const namesIn = (file: string) =>
    holds === "keys" ? Stream.map(readKeys(file), Array.of) : Stream.map(readRecords(file), Object.keys)
  return yield* Effect.flatMap(content, ({ directory }) =>
    Stream.runFold(namesIn(path.join(directory, file)), 0, (count, found) => {
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

/** The content of tables does not meet the expectations in the options of their source. */
export class NotAsExpected extends Schema.TaggedError<NotAsExpected>()("vitrine/NotAsExpected", {
  violations: Schema.NonEmptyArray(Violation),
  /** The number of further violations. */
  unlisted: Schema.Number
}) {
  override get message() {
    const more = this.unlisted === 0 ? [] : [`There are ${countText(this.unlisted, "more violation")}.`]
    return [...this.violations.map(violationText), ...more].join("\n")
  }

  get isTransient(): boolean {
    return false
  }
}

/** Fails with the violations of all tables, if there are any. */
export const requireExpected = (verdicts: ReadonlyArray<Verdict>): Effect.Effect<void, NotAsExpected> => {
  const [first, ...rest] = verdicts.flatMap(({ violations }) => violations)
  if (first === undefined) {
    return Effect.void
  }
  const listed = rest.slice(0, maxListed - 1)
  const ofTables = verdicts.reduce((sum, { unlisted }) => sum + unlisted, 0)
  return new NotAsExpected({
    violations: [first, ...listed],
    unlisted: rest.length - listed.length + ofTables
  })
}
