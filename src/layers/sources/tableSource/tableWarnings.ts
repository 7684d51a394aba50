/**
 * What whoever keeps the tables of a source should look at.
 */
import * as Effect from "effect/Effect"
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
