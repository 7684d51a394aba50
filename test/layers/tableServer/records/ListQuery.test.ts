import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import {
  decodeListQuery,
  decodeRecordQuery,
  type QueryParameters
} from "../../../../src/layers/tableServer/records/ListQuery.ts"

const decode = (parameters: QueryParameters) => Either.getOrThrow(decodeListQuery(parameters))

const refusal = (parameters: QueryParameters): string =>
  Either.match(decodeListQuery(parameters), {
    onLeft: ({ message }) => message,
    onRight: () => "accepted"
  })

describe("decodeListQuery", () => {
  it("has the API's defaults", () => {
    assert.deepStrictEqual(decode({}), {
      pageSize: 100,
      maxRecords: Number.POSITIVE_INFINITY,
      sort: [],
      byFieldId: false
    })
  })

  it.prop(
    "takes every page size from 1 to 100, and no other",
    [FastCheck.integer({ min: -1000, max: 1000 })],
    ([size]) => {
      const decoded = decodeListQuery({ pageSize: String(size) })
      assert.strictEqual(Either.isRight(decoded), size >= 1 && size <= 100)
    }
  )

  it.each(["", "ten", "1.5", "1e2", "0x10", " 5"])("refuses %j as a number", (value) => {
    assert.include(refusal({ pageSize: value }), "pageSize")
    assert.include(refusal({ maxRecords: value }), "maxRecords")
  })

  it.prop(
    "takes fields with and without an index",
    [FastCheck.array(FastCheck.string(), { minLength: 1 })],
    ([names]) => {
      const indexed = Object.fromEntries(names.map((name, index) => [`fields[${index}]`, name]))
      assert.deepStrictEqual(decode({ "fields[]": names }).fields, names)
      assert.deepStrictEqual(decode(indexed).fields, names)
    }
  )

  it("takes sort keys in the order of their index", () => {
    const sort = {
      "sort[1][field]": "Title",
      "sort[0][direction]": "desc",
      "sort[0][field]": "Year"
    }
    assert.deepStrictEqual(decode(sort).sort, [{ field: "Year", direction: "desc" }, { field: "Title" }])
    assert.include(refusal({ "sort[0][direction]": "asc" }), "sort[0][field]")
    assert.include(refusal({ "sort[0][field]": "Year", "sort[0][direction]": "up" }), "sort[0][direction]")
  })

  it("takes parameters that ask for what happens anyway", () => {
    assert.deepStrictEqual(decode({ cellFormat: "json", returnFieldsByFieldId: "false" }), decode({}))
  })

  it("knows of a record only how its fields are named", () => {
    assert.isTrue(Either.getOrThrow(decodeRecordQuery({ returnFieldsByFieldId: "true" })).byFieldId)
    assert.isTrue(Either.isLeft(decodeRecordQuery({ view: "Grid view" })))
    assert.isTrue(Either.isLeft(decodeRecordQuery({ cellFormat: "string" })))
  })

  it.each([
    ["filterByFormula", "1"],
    ["cellFormat", "string"],
    ["returnFieldsByFieldId", "yes"],
    ["timeZone", "utc"],
    ["userLocale", "de"],
    ["recordMetadata[]", "commentCount"],
    ["pagesize", "10"],
    ["fields", "Title"],
    ["__proto__", "x"]
  ])("refuses %s, and says so", (name, value) => {
    assert.include(refusal(Object.fromEntries([[name, value]])), name)
  })

  it("refuses a parameter that is given twice", () => {
    assert.include(refusal({ view: ["A", "B"] }), "view")
  })

  it.prop("never throws", [FastCheck.dictionary(FastCheck.string(), FastCheck.string())], ([parameters]) => {
    decodeListQuery(parameters)
  })
})
