import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import {
  decodeListBody,
  decodeListQuery,
  decodeRecordQuery,
  type QueryParameters
} from "../../../src/layers/tableServer/ListQuery.ts"

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
      maxRecords: Number.MAX_SAFE_INTEGER,
      fields: [],
      sort: [],
      returnFieldsByFieldId: false,
      cellFormat: "json"
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
    assert.include(refusal({ "sort[0][direction]": "asc" }), "sort[0].field")
    assert.include(refusal({ "sort[0][field]": "Year", "sort[0][direction]": "up" }), "sort[0].direction")
  })

  it("takes parameters that ask for what happens anyway", () => {
    assert.deepStrictEqual(decode({ cellFormat: "json", returnFieldsByFieldId: "false" }), decode({}))
  })

  it("knows of a record only how its fields are named", () => {
    assert.isTrue(
      Either.getOrThrow(decodeRecordQuery({ returnFieldsByFieldId: "true" })).returnFieldsByFieldId
    )
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

const bodyRefusal = (body: unknown): string =>
  Either.match(decodeListBody(JSON.stringify(body)), {
    onLeft: ({ message }) => message,
    onRight: () => "accepted"
  })

describe("decodeListBody", () => {
  it.prop(
    "asks for what a URL with the same names asks for",
    [
      FastCheck.record({
        pageSize: FastCheck.integer({ min: 1, max: 100 }),
        maxRecords: FastCheck.integer({ min: 1 }),
        view: FastCheck.string(),
        offset: FastCheck.string(),
        fields: FastCheck.array(FastCheck.string(), { minLength: 1 }),
        sort: FastCheck.array(
          FastCheck.record({ field: FastCheck.string(), direction: FastCheck.constantFrom("asc", "desc") })
        ),
        returnFieldsByFieldId: FastCheck.boolean()
      })
    ],
    ([body]) => {
      const { fields, sort, ...others } = body
      const parameters = {
        ...Object.fromEntries(Object.entries(others).map(([name, value]) => [name, String(value)])),
        "fields[]": fields,
        ...Object.fromEntries(
          sort.flatMap(({ direction, field }, index) => [
            [`sort[${index}][field]`, field],
            [`sort[${index}][direction]`, direction]
          ])
        )
      }
      assert.deepStrictEqual(decodeListBody(JSON.stringify(body)), decodeListQuery(parameters))
    }
  )

  it("takes an empty object, and what the official client adds", () => {
    const everything = decodeListQuery({})
    assert.deepStrictEqual(decodeListBody("{}"), everything)
    assert.deepStrictEqual(decodeListBody('{"method":"post","fields":[],"sort":[]}'), everything)
  })

  it.each([
    [null, "JSON object"],
    [[], "JSON object"],
    [{ fields: "Title" }, "fields"],
    [{ fields: [1] }, "fields"],
    [{ sort: { field: "Title" } }, "sort"],
    [{ sort: [{ field: 1 }] }, "sort"],
    [{ sort: [{ direction: "asc" }] }, "sort[0].field"],
    [{ sort: [{ field: "Title", order: "asc" }] }, "sort[0].order"],
    [{ pageSize: 101 }, "pageSize"],
    [{ pageSize: null }, "pageSize"],
    [{ "fields[]": "Title" }, "fields[]"],
    [{ filterByFormula: "1" }, "filterByFormula"]
  ])("refuses %j, and says why", (body, part) => {
    assert.match(bodyRefusal(body), /^422 .*INVALID_REQUEST_UNKNOWN/)
    assert.include(JSON.parse(bodyRefusal(body).slice(4)).error.message, part)
  })

  it.prop("never throws", [FastCheck.oneof(FastCheck.string(), FastCheck.json())], ([text]) => {
    decodeListBody(text)
  })
})
