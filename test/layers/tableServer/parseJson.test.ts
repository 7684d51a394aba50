import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import { parseJson } from "../../../src/layers/tableServer/parseJson.ts"

const parse = (text: string) => parseJson("Objects.json", text)
const mistake = (text: string) =>
  Either.match(parse(text), { onLeft: ({ message }) => message, onRight: () => "no mistake" })

describe("parseJson", () => {
  it.prop(
    "passes the values of rows through",
    [FastCheck.array(FastCheck.dictionary(FastCheck.string(), FastCheck.json()))],
    ([rows]) => {
      const content = Either.getOrThrow(parse(JSON.stringify(rows)))
      assert.strictEqual(JSON.stringify(content.rows.map(({ cells }) => cells)), JSON.stringify(rows))
      assert.sameMembers([...content.fieldNames], [...new Set(rows.flatMap(Object.keys))])
    }
  )

  it("keeps a field named __proto__", () => {
    const { rows } = Either.getOrThrow(parse('[{"__proto__":{"polluted":1}}]'))
    assert.isTrue(Object.hasOwn(rows[0]?.cells ?? {}, "__proto__"))
  })

  it("takes a listing of the API, ids included", () => {
    const listing = {
      records: [
        { id: "rec1", createdTime: "2026-01-02T03:04:05.000Z", fields: { Title: "Vase" }, commentCount: 2 },
        { id: "rec2", fields: {} }
      ],
      offset: "itr"
    }
    assert.deepStrictEqual(Either.getOrThrow(parse(JSON.stringify(listing))), {
      fieldNames: ["Title"],
      rows: [
        { id: "rec1", createdTime: "2026-01-02T03:04:05.000Z", cells: { Title: "Vase" } },
        { id: "rec2", cells: {} }
      ]
    })
  })

  it.each([
    ["", /^Objects\.json, line 1, column 1: is not valid JSON/],
    ['[\n{"a":1}\n{"b":2}]', /^Objects\.json, line 3, column 1: is not valid JSON/],
    ['[\n{"a":1},\n', /^Objects\.json, line 3, column 1: is not valid JSON/],
    ["{}", /^Objects\.json: must hold an array of rows/],
    ["null", /^Objects\.json: must hold an array of rows/],
    ["[{},5]", /^Objects\.json: at 1: expected an object with a value for each field, got 5/],
    ["[[]]", /^Objects\.json: at 0: expected an object/],
    ['{"records":5}', /^Objects\.json: at records: expected an array, got 5/],
    ['{"records":[{"fields":{}}]}', /^Objects\.json: at records\.0\.id: is missing/],
    ['{"records":[{"id":"r","fields":[]}]}', /^Objects\.json: at records\.0\.fields: expected an object/],
    [
      '{"records":[{"id":"r","fields":{}},{"id":"r","fields":{}}]}',
      /^Objects\.json: two records have the id r/
    ]
  ])("tells what is wrong with %j", (text, expected) => {
    assert.match(mistake(text), expected)
  })
})
