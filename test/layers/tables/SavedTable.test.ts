import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { makeAttachmentPaths } from "../../../src/layers/tables/AttachmentPaths.ts"
import { saveKeyValues, saveRecords } from "../../../src/layers/tables/SavedTable.ts"
import type { TableRecord } from "../../../src/services/TableSourceClient.ts"

const rows: ReadonlyArray<TableRecord> = [
  { id: "rec1", fields: { key: "Größe", value: "7 €" } },
  { id: "rec2", fields: { key: "𝄞", value: "true" } }
]

const save = (write: typeof saveRecords, pages: ReadonlyArray<ReadonlyArray<TableRecord>>) =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const path = `${yield* fileSystem.makeTempDirectoryScoped()}/table.json`
    const target = {
      table: "Objects",
      path,
      progress: () => Effect.void,
      pathOf: makeAttachmentPaths(),
      appendLocalAttachmentPaths: true
    }
    const saved = yield* write(target, Stream.fromIterable(pages))
    return { saved, size: Number((yield* fileSystem.stat(path)).size) }
  }).pipe(Effect.provide(NodeContext.layer))

describe("a saved table", () => {
  it.scoped.each([
    ["an array of records", saveRecords, [rows, [], rows.slice(1)]],
    ["no records", saveRecords, []],
    ["a key/value table", saveKeyValues, [rows]]
  ] as const)("tells the size of its file: %s", ([, write, pages]) =>
    Effect.gen(function* () {
      const { saved, size } = yield* save(write, pages)
      expect(saved.bytes).toBe(size)
    })
  )
})
