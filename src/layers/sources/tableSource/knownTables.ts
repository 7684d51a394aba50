/**
 * What the tables of a version came to when they were read, so that those that have not changed can be taken over from it.
 */
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import type { FetchTarget } from "../../../services/ContentSource.ts"
import type { FoundAttachment } from "./NotSaved.ts"
import type { SavedTable } from "./SavedTable.ts"

/** A table that was saved, in a file of this name. */
export interface NamedTable extends Pick<SavedTable, "attachments" | "bytes" | "sha256"> {
  readonly table: string
  readonly name: string
}

/** The tables of one version. */
export interface KnownTables<A> {
  /** What it came to, and the folder that its file is in. None where that is not there. */
  readonly table: (table: string) => Option.Option<{ readonly known: A; readonly from: string }>
  /** Those of all tables, in the order in which they were found. */
  readonly attachments: ReadonlyArray<FoundAttachment>
}

interface Read<A> {
  readonly fingerprint: string
  readonly tables: ReadonlyArray<A>
}

/** Of two versions at most: the latest one, and what was read last and may not have become a version. */
export const makeKnownTables = <A extends NamedTable>() => {
  let reads: ReadonlyArray<Read<A>> = []
  let latest: ReadonlyArray<Read<A>> = []

  return {
    /** Of the version before, where it was read here. */
    of: (previous: FetchTarget["previous"]): KnownTables<A> => {
      latest = reads.filter(({ fingerprint }) =>
        Option.exists(previous, (previous) => Option.contains(previous.fingerprint, fingerprint))
      )
      const tables = latest.flatMap(({ tables }) => tables)
      return {
        table: (table) =>
          Option.gen(function* () {
            const { directory, files } = yield* previous
            const known = yield* Option.fromNullable(tables.find((known) => known.table === table))
            const { sha256, size } = yield* Record.get(files, known.name)
            // The same content may have been written in other bytes, with links that were signed again.
            return { known: { ...known, bytes: size, sha256 }, from: directory }
          }),
        attachments: tables.flatMap(({ attachments }) => attachments)
      }
    },

    add: (fingerprint: string, tables: ReadonlyArray<A>): void => {
      reads = [{ fingerprint, tables }, ...latest.filter((read) => read.fingerprint !== fingerprint)]
    }
  }
}
