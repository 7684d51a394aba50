import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import { decodeListBody } from "../../../../src/layers/tableServer/records/ListBody.ts"
import { decodeListQuery } from "../../../../src/layers/tableServer/records/ListQuery.ts"

const refusal = (body: unknown): string =>
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
    [{ sort: [{ direction: "asc" }] }, "sort[0][field]"],
    [{ sort: [{ field: "Title", order: "asc" }] }, "sort[0][order]"],
    [{ pageSize: 101 }, "pageSize"],
    [{ pageSize: null }, "pageSize"],
    [{ "fields[]": "Title" }, "fields[]"],
    [{ filterByFormula: "1" }, "filterByFormula"]
  ])("refuses %j, and says why", (body, part) => {
    assert.match(refusal(body), /^422 .*INVALID_REQUEST_UNKNOWN/)
    assert.include(JSON.parse(refusal(body).slice(4)).error.message, part)
  })

  it.prop("never throws", [FastCheck.oneof(FastCheck.string(), FastCheck.json())], ([text]) => {
    decodeListBody(text)
  })
})
