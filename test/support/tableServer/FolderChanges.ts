/**
 * What was edited in a folder of tables between two looks at it.
 *
 * A table whose file cannot be read stays as it was until it can. Attachments change with the content of their files.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { AttachmentFile, AttachmentFolder } from "./AttachmentFolder.ts"
import { declaredFiles, serveAttachments } from "./attachmentCells.ts"
import type { Table } from "./Table.ts"
import { changesBetween, type TableChange } from "./TableChange.ts"
import type { TableFolder } from "./TableFolder.ts"
import type { TableFolderError } from "./TableServerService.ts"

export interface FolderChanges {
  /**
   * Gives `take` the changes since the look before this one, in one array for each changed table. At the first look
   * every table is new. A look that is interrupted has not happened. One look at a time.
   */
  readonly look: <A>(
    take: (changes: ReadonlyArray<ReadonlyArray<TableChange>>) => A
  ) => Effect.Effect<A, TableFolderError>
}

export const make = (folder: TableFolder, attachments: AttachmentFolder): FolderChanges => {
  let known: ReadonlyMap<string, Seen> = new Map()

  const see = Effect.fnUntraced(function* (table: Table) {
    const before = known.get(table.name)
    const files = before?.table === table ? before.files : declaredFiles(table.records)
    const found = yield* Effect.forEach(files, attachments.find)
    if (before?.table === table && found.every((file, index) => file === before.found[index])) {
      return before
    }
    // Links are new at each listing, and so are no change.
    const records = yield* serveAttachments(table.records, attachments.find, () => null)
    return { table, files, found, served: { ...table, records } }
  })

  const read = Effect.gen(function* () {
    const tables = yield* Effect.forEach(yield* folder.names, (name) =>
      folder.find(name).pipe(
        Effect.flatMap(Effect.transposeMapOption(see)),
        Effect.catchTag("vitrine/InvalidTableFile", () =>
          Effect.sync(() => Option.fromNullable(known.get(name)))
        )
      )
    )
    return new Map(tables.flatMap(Option.toArray).map((seen) => [seen.table.name, seen]))
  })

  return {
    look: (take) =>
      Effect.map(read, (now) => {
        const before = known
        known = now
        const changes = [...new Set([...before.keys(), ...now.keys()])]
          .filter((name) => before.get(name) !== now.get(name))
          .map((name) => changesBetween(before.get(name)?.served, now.get(name)?.served))
          .filter((changes) => changes.length > 0)
        return take(changes)
      })
  }
}

/** A table and its attachments, which are all the same objects while nothing has changed. */
interface Seen {
  readonly table: Table
  readonly files: ReadonlyArray<string>
  readonly found: ReadonlyArray<AttachmentFile>
  /** As it is listed, without links. */
  readonly served: Table
}
