/**
 * What the editors of the tables of a source should look at.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import type { PreviousContent } from "../../../services/ContentSource.ts"
import type { TableSourceOptions } from "./TableSourceOptions.ts"

/** Logs the warnings of a fetched table. What was to be warned of at the fetch before is not said again. */
export type WarnOfTable = (table: string, warnings: ReadonlyArray<string>) => Effect.Effect<void>

export const makeTableWarnings = (): WarnOfTable => {
  const lastWarnings = new Map<string, ReadonlyArray<string>>()
  return (table, warnings) =>
    Effect.suspend(() => {
      const known = lastWarnings.get(table) ?? []
      lastWarnings.set(table, warnings)
      return Effect.forEach(
        warnings.filter((warning) => !known.includes(warning)),
        (warning) => Effect.logWarning(warningText(table, warning)),
        { discard: true }
      )
    })
}

export const warningText = (table: string, warning: string): string => `Table "${table}": ${warning}`

export const warnOfNoTables = ({
  id,
  keyValueTables,
  tables
}: Pick<TableSourceOptions, "id" | "keyValueTables" | "tables">): Effect.Effect<void> =>
  tables.length + keyValueTables.length === 0
    ? Effect.logWarning(`The table source "${id}" has neither "tables" nor "keyValueTables": it is empty.`)
    : Effect.void

interface SavedTableFile {
  readonly table: string
  /** Of its file. */
  readonly name: string
  readonly bytes: number
}

/** `[]` or `{}`, and a line break. */
const emptyBytes = 3

/**
 * Tables that have become empty: a warning, until they have records again. It remembers, in memory, what has become empty: at
 * the next fetch, the version before is empty too.
 */
export const makeEmptyTables = () => {
  const emptied = new Set<string>()
  return {
    warnings: (
      { bytes, name, table }: SavedTableFile,
      previous: Option.Option<PreviousContent>
    ): ReadonlyArray<string> => {
      const hadRecords = Option.exists(
        Option.flatMap(previous, ({ files }) => Record.get(files, name)),
        ({ size }) => size > emptyBytes
      )
      if (bytes > emptyBytes) {
        emptied.delete(table)
      } else if (hadRecords) {
        emptied.add(table)
      }
      return emptied.has(table)
        ? ['it is empty, and had records before; with "minRecords" in "expect", such a version is not shown']
        : []
    }
  }
}
