import * as NodeContext from "@effect/platform-node/NodeContext"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { fieldId, tableId, viewId } from "../../../src/layers/tableServer/identifiers.ts"
import { start } from "../../support/tableServer.ts"
import { temporaryFolder } from "../../support/temporaryFolder.ts"

describe("the schema of a base", () => {
  it.scoped("has the names and ids of tables, fields and views", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder({
        "Objects.json": JSON.stringify([
          { Title: "Astrolabe", Year: 1520, Shown: true, Pictures: [{ file: "a.svg" }], Mixed: 1 },
          { Title: "Globe", Year: "", Mixed: "one" }
        ]),
        "Rooms.csv": "Name\n",
        "Broken.json": "{",
        "views.json": JSON.stringify({ Rooms: { "Open rooms": {} } })
      })
      const { get } = yield* start(directory)
      const id = (field: string) => fieldId("Objects", field)
      const views = (table: string, ...names: ReadonlyArray<string>) =>
        names.map((name) => ({ id: viewId(table, name), name, type: "grid" }))
      assert.deepStrictEqual(yield* get("/v0/meta/bases/appX/tables"), {
        status: 200,
        body: {
          tables: [
            {
              id: tableId("Objects"),
              name: "Objects",
              primaryFieldId: id("Title"),
              fields: [
                { id: id("Title"), name: "Title", type: "singleLineText" },
                { id: id("Year"), name: "Year", type: "number" },
                { id: id("Shown"), name: "Shown", type: "checkbox" },
                { id: id("Pictures"), name: "Pictures", type: "multipleAttachments" },
                { id: id("Mixed"), name: "Mixed", type: "singleLineText" }
              ],
              views: views("Objects", "Grid view")
            },
            {
              id: tableId("Rooms"),
              name: "Rooms",
              primaryFieldId: fieldId("Rooms", "Name"),
              fields: [{ id: fieldId("Rooms", "Name"), name: "Name", type: "singleLineText" }],
              views: views("Rooms", "Grid view", "Open rooms")
            }
          ]
        }
      })
    }).pipe(Effect.provide(NodeContext.layer))
  )
})
