/**
 * What was edited in a folder of tables between two looks at it.
 *
 * A table whose file cannot be read stays as it was until it can. Attachments change with the content of their files.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { TableFolderError } from "../../../services/TableServer.ts"
import type { AttachmentFolder } from "../attachments/AttachmentFolder.ts"
import { serveAttachments } from "../attachments/attachmentCells.ts"
import type { Table } from "../tables/Table.ts"
import type { TableFolder } from "../tables/TableFolder.ts"
import { changesBetween, type TableChange } from "./TableChange.ts"

export interface FolderChanges {
  /**
   * Gives `take` the changes since the look before this one, in one array for each table that has any. At the first look
   * every table is new. A look that is interrupted has not happened. One look at a time.
   */
  readonly look: <A>(
    take: (changes: ReadonlyArray<ReadonlyArray<TableChange>>) => A
  ) => Effect.Effect<A, TableFolderError>
}

export const make = (folder: TableFolder, attachments: AttachmentFolder): FolderChanges => {
  let known: ReadonlyMap<string, Table> = new Map()

  const read = Effect.gen(function* () {
    // Many cells may have the same file.
    const find = yield* Effect.cachedFunction(attachments.find)
    const withAttachments = (table: Table) =>
      Effect.map(
        // Their links are new at each listing, and so are no change.
        serveAttachments(table.records, find, () => null),
        (records) => ({ ...table, records })
      )
    const tables = yield* Effect.forEach(yield* folder.names, (name) =>
      folder.find(name).pipe(
        Effect.flatMap(Effect.transposeMapOption(withAttachments)),
        Effect.catchTag("vitrine/InvalidTableFile", () =>
          Effect.sync(() => Option.fromNullable(known.get(name)))
        )
      )
    )
    return new Map(tables.flatMap(Option.toArray).map((table) => [table.name, table]))
  })

  return {
    look: (take) =>
      Effect.map(read, (now) => {
        const before = known
        known = now
        const changes = [...new Set([...before.keys(), ...now.keys()])]
          .map((name) => changesBetween(before.get(name), now.get(name)))
          .filter((changes) => changes.length > 0)
        return take(changes)
      })
  }
}
