import { expect, it } from "@effect/vitest"
import { readErrorResponse } from "../../../../src/layers/sources/tables/requestErrors.ts"

it.each([
  ['{"error":"NOT_FOUND"}', "NOT_FOUND", "NOT_FOUND"],
  ['{"error":{"type":"T","message":"M"}}', "T", "T: M"],
  ['{"error":{"type":"T"}}', "T", "T"],
  ['{"error":{"message":"M"}}', "", "M"],
  ['{"errors":[{"error":"T","message":"M"},{"error":"U"}]}', "T", "T: M"],
  ['{"message":"M"}', "", "M"],
  ['"M"', "", "M"],
  ["{}", "", ""],
  ["", "", ""],
  ["null", "", ""],
  ["5", "", ""],
  ["[]", "", ""],
  ['[{"error":"T"}]', "", ""],
  ['{"error":null}', "", ""],
  ['{"error":{"type":{"type":"T"},"message":["M"]}}', "", ""],
  ['{"errors":{"0":{"error":"T"}}}', "", ""],
  ['{"errors":[]}', "", ""],
  ["<html><head><title>Busy</title></head><p>Later</p></html>", "", "Busy"],
  ["<p>Later</p>", "", " Later "],
  [`<${"p".repeat(4090)}>more and more`, "", " more"]
])("reads %s", (body, type, words) => {
  expect(readErrorResponse(body)).toEqual({ type, words })
})

it("reads a long text quickly", () => {
  const { words } = readErrorResponse("<title".repeat(1_000_000))
  expect(words.length).toBeLessThan(5000)
})
