/**
 * Tables that have become empty: a warning, until they have records again.
 */
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import type { PreviousContent } from "../../../services/ContentSource.ts"

export interface SavedTableFile {
  readonly table: string
  /** Of its file. */
  readonly name: string
  readonly bytes: number
}

/** `[]` or `{}`, and a line break. */
const emptyBytes = 3

/** Remembers, in memory, what has become empty: at the next fetch, the version before is empty too. */
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
