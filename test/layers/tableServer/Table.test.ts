import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { makeTable } from "../../../src/layers/tableServer/Table.ts"
import { tableOf } from "../../support/tableRecords.ts"

const ids = (rows: ReadonlyArray<Record<string, unknown>>, name?: string) =>
  tableOf(rows, name).records.map(({ id }) => id)

describe("makeTable", () => {
  it("leaves empty cells out", () => {
    const { fieldNames, records } = tableOf([
      { a: "", b: null, c: [], d: false },
      { a: "x", b: 0, c: [null], d: true }
    ])
    assert.deepStrictEqual(fieldNames, ["a", "b", "c", "d"])
    assert.deepStrictEqual(
      records.map(({ fields }) => fields),
      [{}, { a: "x", b: 0, c: [null], d: true }]
    )
  })

  it.prop(
    "ids are unique, well formed, and kept when another cell or row changes",
    [
      FastCheck.array(
        FastCheck.record({ key: FastCheck.constantFrom("", "a", "b", 1, "1"), other: FastCheck.string() })
      ),
      FastCheck.string()
    ],
    ([rows, other]) => {
      const before = ids(rows)
      assert.strictEqual(new Set(before).size, rows.length)
      assert.isTrue(before.every((id) => /^rec[a-zA-Z0-9]{14}$/.test(id)))
      assert.deepStrictEqual(ids(rows.map((row) => ({ ...row, other }))), before)
      assert.deepStrictEqual(ids([...rows, { key: "new", other }]).slice(0, rows.length), before)
    }
  )

  it("ids differ between tables", () => {
    assert.notDeepEqual(ids([{ a: 1 }], "A"), ids([{ a: 1 }], "B"))
  })

  it("keeps ids and times that the file brings", () => {
    const row = { id: "rec1", createdTime: "2026-01-02T03:04:05.000Z", cells: { a: 1 } }
    const [record] = makeTable("A", { fieldNames: ["a"], rows: [row] }).records
    assert.deepStrictEqual(record, { id: row.id, createdTime: row.createdTime, fields: { a: 1 } })
  })
})
