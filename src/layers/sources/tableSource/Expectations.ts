/**
 * What is expected of the tables of a source, and the verdict on what was fetched.
 *
 * Tables of which nothing is expected are not looked at. Violations of all tables are told together: an editor is to see
 * them at once.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import type { PreviousContent } from "../../../services/ContentSource.ts"
import type { AttachmentFormat } from "../../../services/TableSourceClient.ts"
import { makeSavedNames } from "./SavedNames.ts"
import { type CheckedTable, makeTableCheck, type TableCheck, type Verdict } from "./TableCheck.ts"
import type { TableSourceOptions } from "./TableSourceOptions.ts"

export type Expectations = ReturnType<typeof makeExpectations>

export const makeExpectations = ({
  defaultView: view,
  expect
}: Pick<TableSourceOptions, "defaultView" | "expect">) => {
  const savedNames = makeSavedNames()
  return {
    /** A fresh check of a table, for each time that it is read. */
    begin: (table: string, holds: CheckedTable["holds"], format: AttachmentFormat | undefined) =>
      Option.map(Record.get(expect, table), (expectation) =>
        makeTableCheck({ table, holds, view, isAttachment: isAttachmentOf(format) }, expectation)
      ),

    /** The verdict on a table that was read, whose file in the version before has this name. */
    end: (
      check: Option.Option<TableCheck>,
      previous: Option.Option<PreviousContent>,
      name: string,
      holds: CheckedTable["holds"]
    ) =>
      Option.match(check, {
        onNone: () => Effect.succeed<Verdict>({ violations: [], unlisted: 0 }),
        onSome: ({ end, needsPrevious }) =>
          Effect.map(needsPrevious() ? savedNames(previous, name, holds) : Effect.succeedNone, end)
      })
  }
}

const isAttachmentOf = (format: AttachmentFormat | undefined) => (item: unknown) =>
  format !== undefined && Predicate.isReadonlyRecord(item) && Option.isSome(format.read(item))
