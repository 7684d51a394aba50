import { expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { savedText, sorted } from "../../../src/layers/documents/jsonValues.ts"
import { reversed } from "../../support/reversed.ts"

it.prop("equal values have equal texts, with names in any order", [FastCheck.jsonValue()], ([value]) => {
  expect(savedText(sorted(reversed(value)))).toBe(savedText(sorted(value)))
  expect(JSON.parse(savedText(sorted(value)))).toEqual(JSON.parse(JSON.stringify(value)))
})

it("__proto__ is a name like any other", () => {
  expect(savedText(sorted(JSON.parse('{"b":1,"__proto__":{"z":1,"a":2}}')))).toBe(
    '{\n  "__proto__": {\n    "a": 2,\n    "z": 1\n  },\n  "b": 1\n}\n'
  )
})
