import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { attachments } from "../../../../src/layers/sources/airtable/tableClient.ts"
import * as AttachmentCells from "../../../../src/layers/sources/tableSource/AttachmentCells.ts"
import { makeAttachmentPaths } from "../../../../src/layers/sources/tableSource/AttachmentPaths.ts"
import { saveKeyValues, saveRecords } from "../../../../src/layers/sources/tableSource/SavedTable.ts"
import type { TableRecord } from "../../../../src/services/TableSourceClient.ts"
import { sha256 } from "../../../support/sha256.ts"

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
      cells: AttachmentCells.make(attachments),
      pathOf: makeAttachmentPaths(),
      appendLocalAttachmentPaths: true,
      check: Option.none()
    }
    const saved = yield* write(target, Stream.fromIterable(pages))
    return {
      saved,
      size: Number((yield* fileSystem.stat(path)).size),
      text: yield* fileSystem.readFileString(path)
    }
  }).pipe(Effect.provide(NodeContext.layer))

describe("a saved table", () => {
  it.scoped.each([
    ["an array of records", saveRecords, [rows, [], rows.slice(1)]],
    ["no records", saveRecords, []],
    ["a key/value table", saveKeyValues, [rows]]
  ] as const)("tells the size and the digest of its file: %s", ([, write, pages]) =>
    Effect.gen(function* () {
      const { saved, size, text } = yield* save(write, pages)
      expect(saved).toMatchObject({ bytes: size, sha256: sha256(text) })
    })
  )

  const many = Array.from({ length: 40 }, (_, page) =>
    Array.from({ length: 3 }, (_, row) => ({ id: `rec${page}.${row}`, fields: { text: "ä€".repeat(5000) } }))
  )

  it.scoped("is the array of all records, though it is written piece by piece", () =>
    Effect.gen(function* () {
      const { saved, text } = yield* save(saveRecords, many)
      const all = many.flat().map(({ fields, id }) => ({ id, ...fields }))
      expect(text === `${JSON.stringify(all, null, 2)}\n`).toBe(true)
      expect(saved).toMatchObject({ records: 120, bytes: Buffer.byteLength(text), sha256: sha256(text) })
    })
  )

  const pictures = (signature: string) =>
    [{ id: "att1", url: `https://files.example/${signature}`, filename: "a.png" }] as const

  const table = (signature: string): ReadonlyArray<TableRecord> => [
    { id: "rec1", fields: { name: "\n},\n{" } },
    { id: "rec2", fields: { pictures: pictures(signature) } },
    { id: "rec3", fields: {} }
  ]

  const digest = (pages: ReadonlyArray<ReadonlyArray<TableRecord>>, write = saveRecords) =>
    Effect.map(save(write, pages), ({ saved }) => saved.digest)

  it.scoped("has one digest however its attachments are signed, and wherever its pages end", () =>
    Effect.gen(function* () {
      const expected = yield* digest([table("a")])
      const [first = [], ...rest] = table("b").map((record) => [record])
      expect(yield* digest([table("b")])).toBe(expected)
      expect(yield* digest([first, ...rest])).toBe(expected)
      expect(yield* digest([first])).not.toBe(expected)
      expect(yield* digest([rest.flat()])).not.toBe(expected)
    })
  )

  it.scoped("has a digest that tells columns apart from attachments of the same names", () =>
    Effect.gen(function* () {
      const columns = (signature: string) => [
        [{ id: "rec1", fields: { ...pictures(signature)[0], id: "att1" } }]
      ]
      expect(yield* digest(columns("a"))).not.toBe(yield* digest(columns("b")))
    })
  )

  it.scoped("has a digest for keys and values, too", () =>
    Effect.gen(function* () {
      const rows = (signature: string) => [[{ id: "rec1", fields: { key: "a", value: pictures(signature) } }]]
      expect(yield* digest(rows("a"), saveKeyValues)).toBe(yield* digest(rows("b"), saveKeyValues))
      expect(yield* digest(rows("a"), saveKeyValues)).not.toBe(yield* digest([[]], saveKeyValues))
    })
  )
})
