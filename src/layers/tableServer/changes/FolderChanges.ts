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
   * The changes since the look before this one, in one array for each table that has any. At the first look every table
   * is new. One look at a time.
   */
  readonly look: Effect.Effect<ReadonlyArray<ReadonlyArray<TableChange>>, TableFolderError>
}

export const make = (folder: TableFolder, attachments: AttachmentFolder): FolderChanges => {
  let known: ReadonlyMap<string, Table> = new Map()

  const read = (name: string) =>
    folder.find(name).pipe(
      Effect.flatMap(Effect.transposeMapOption(withAttachments)),
      Effect.catchTag("vitrine/InvalidTableFile", () =>
        Effect.sync(() => Option.fromNullable(known.get(name)))
      )
    )

  /** Attachments as they are listed, without their links, which are new each time. */
  const withAttachments = (table: Table) =>
    Effect.map(
      serveAttachments(table.records, attachments.find, () => null),
      (records) => ({ ...table, records })
    )

  return {
    look: Effect.gen(function* () {
      const tables = yield* Effect.forEach(yield* folder.names, read)
      const now = new Map(tables.flatMap(Option.toArray).map((table) => [table.name, table]))
      const before = known
      known = now
      return [...new Set([...before.keys(), ...now.keys()])]
        .map((name) => changesBetween(before.get(name), now.get(name)))
        .filter((changes) => changes.length > 0)
    })
  }
}
