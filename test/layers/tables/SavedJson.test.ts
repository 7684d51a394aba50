import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { savedRecord, savedText, sorted } from "../../../src/layers/tables/SavedJson.ts"

/** The same data with the keys of every object the other way round. */
const reversed = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(reversed)
    : typeof value === "object" && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .reverse()
            .map(([key, part]) => [key, reversed(part)])
        )
      : value

describe("saved JSON", () => {
  it("has the id first and the fields by name", () => {
    const fields = { b: { z: 1, y: [{ d: 1, c: 2 }] }, a: "ü", B: null }
    expect(savedText(savedRecord({ id: "rec1", fields }))).toBe(
      JSON.stringify({ id: "rec1", B: null, a: "ü", b: { y: [{ c: 2, d: 1 }], z: 1 } }, null, 2)
    )
  })

  it("keeps a column named id under another name", () => {
    const saved = savedRecord({ id: "rec1", fields: { id: 7, ia: 1, idx: 2 } })
    expect(Object.entries(saved)).toEqual([
      ["id", "rec1"],
      ["ia", 1],
      ["id_", 7],
      ["idx", 2]
    ])
  })

  it("keeps names that objects have of themselves", () => {
    const fields = JSON.parse('{"toJSON":"x","constructor":{"__proto__":[]},"__proto__":{"a":1}}')
    expect(savedText(savedRecord({ id: "rec1", fields }))).toBe(
      `{
  "id": "rec1",
  "__proto__": {
    "a": 1
  },
  "constructor": {
    "__proto__": []
  },
  "toJSON": "x"
}`
    )
  })

  it.prop("is equal for equal data, and nothing is lost", [FastCheck.jsonValue()], ([value]) => {
    const data: unknown = JSON.parse(JSON.stringify(value))
    expect(savedText(sorted(reversed(data)))).toBe(savedText(sorted(data)))
    expect(JSON.parse(savedText(sorted(data)))).toEqual(data)
  })
})
