import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { AttachmentFile } from "../../../src/layers/tableServer/AttachmentFolder.ts"
import * as FolderChanges from "../../../src/layers/tableServer/FolderChanges.ts"
import type { Table } from "../../../src/layers/tableServer/Table.ts"

const pictures: Table = {
  name: "Pictures",
  fieldNames: ["Files"],
  records: [{ id: "rec1", createdTime: "", fields: { Files: [{ file: "a.txt" }, [{ file: "a.txt" }]] } }]
}

describe("FolderChanges", () => {
  it.effect("have an attachment whose file has changed, in a table that has not", () =>
    Effect.gen(function* () {
      let found: AttachmentFile = { id: "att1", path: "/a.txt", size: 1, type: "text/plain" }
      let asked = 0
      const { look } = FolderChanges.make(
        {
          directory: "/tables",
          names: Effect.succeed(["Pictures"]),
          views: Effect.succeed({}),
          find: () => Effect.succeedSome(pictures)
        },
        {
          find: () =>
            Effect.sync(() => {
              asked += 1
              return found
            })
        }
      )
      const changes = look((changes) => changes.flat().length)
      assert.strictEqual(yield* changes, 2)
      asked = 0
      assert.strictEqual(yield* changes, 0)
      assert.strictEqual(asked, 1)
      found = { ...found, id: "att2" }
      assert.strictEqual(yield* changes, 1)
      assert.strictEqual(yield* changes, 0)
    })
  )
})
