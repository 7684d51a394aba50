import { expect, it } from "@effect/vitest"
import * as fc from "effect/FastCheck"
import { identity } from "effect/Function"
import { savedParts, savedText, sorted } from "../../../src/layers/documents/sortedJson.ts"

/** Large enough to be written in parts at several levels. */
const large = fc
  .record({
    item: fc.jsonValue({ maxDepth: 3 }),
    name: fc.oneof(fc.string(), fc.nat().map(String), fc.constant("__proto__")),
    items: fc.integer({ min: 1, max: 30_000 }),
    levels: fc.integer({ min: 0, max: 4 })
  })
  .map(({ item, items, levels, name }) => {
    let value: unknown = Array.from({ length: items }, (_, index) => (index % 7 === 0 ? item : index))
    for (let level = 0; level < levels; level++) {
      value =
        level % 2 === 0
          ? JSON.parse(`{"z":1,"10":[],"9":{},${JSON.stringify(name)}:${JSON.stringify(value)},"a":{}}`)
          : [value, item, value]
    }
    return value
  })

it("a large value that is written in parts has the same text as JSON.stringify gives", () => {
  fc.assert(
    fc.property(large, fc.constantFrom(sorted, identity), (value, order) => {
      expect([...savedParts(value, order)].join("") === savedText(order(value))).toBe(true)
    }),
    { numRuns: 25 }
  )
})

it("an object with many names is written in parts", () => {
  const value = Object.fromEntries(
    Array.from({ length: 40_000 }, (_, index) => [index % 2 === 0 ? `n${index}` : String(index), index])
  )
  const parts = [...savedParts(value, sorted)]
  expect(parts.length).toBeGreaterThan(3)
  expect(parts.join("") === savedText(sorted(value))).toBe(true)
})
