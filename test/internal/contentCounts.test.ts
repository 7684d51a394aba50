import { expect, it } from "@effect/vitest"
import { countsText, sumCounts } from "../../src/internal/contentCounts.ts"

it("counts records and single values apart, and omits counts of zero", () => {
  const texts = [
    [{ records: 40 }],
    [{ records: 40 }, { records: 0, values: 1 }],
    [{ values: 2 }],
    [{ records: 1, values: 0 }, {}],
    []
  ].map((counts) => countsText(sumCounts(counts)))
  expect(texts).toEqual([
    "40 records",
    "40 records, 1 set of values",
    "2 sets of values",
    "1 record",
    "0 records"
  ])
})
