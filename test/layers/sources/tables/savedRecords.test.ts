import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { sorted } from "../../../../src/layers/documents/jsonValues.ts"
import { makeSavedRecord } from "../../../../src/layers/sources/tables/tableDocuments.ts"
import type { TableRecord } from "../../../../src/services/TableSourceClient.ts"
import { reversed } from "../../../support/reversed.ts"

const name = FastCheck.oneof(
  FastCheck.string({ unit: "binary" }),
  FastCheck.constantFrom(
    "__proto__",
    "constructor",
    "toJSON",
    "id",
    "id_",
    "10",
    "9",
    "-1",
    "\ud800",
    "ä",
    "a",
    "B"
  )
)

/** Any JSON, with names and values that are easy to get wrong. */
const { json } = FastCheck.letrec<{ json: unknown }>((tie) => ({
  json: FastCheck.oneof(
    { maxDepth: 3, withCrossShrink: true },
    FastCheck.oneof(
      FastCheck.jsonValue(),
      FastCheck.string({ unit: "binary" }),
      FastCheck.constantFrom(-0, 1e21, 1e-7, 5e-324, "\u2028", "\udc00", null, false, [], {})
    ),
    FastCheck.array(tie("json"), { maxLength: 3 }),
    FastCheck.dictionary(name, tie("json"), { maxKeys: 4 })
  )
}))

const tables = FastCheck.array(FastCheck.dictionary(name, json, { maxKeys: 4 }), { maxLength: 6 })

/** Exactly as the contract says, and slow. */
const plainlySorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(plainlySorted)
    : typeof value === "object" && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([one], [other]) => (one < other ? -1 : 1))
            .map(([name, part]) => [name, plainlySorted(part)])
        )
      : value

describe("saved JSON", () => {
  it.prop("of a record is its id and its sorted fields, from any order", [tables], ([table]) => {
    const form = makeSavedRecord()
    // Twice each: a record with the names of the record before is copied from an empty one.
    for (const cells of table.flatMap((cells) => [cells, cells])) {
      const fields: TableRecord["fields"] = JSON.parse(JSON.stringify(cells))
      const renamed = Object.entries(fields).map(([name, cell]) => [name === "id" ? "id_" : name, cell])
      const sorted = Object.entries(Object(plainlySorted(Object.fromEntries(renamed))))
      expect(JSON.stringify(form({ id: "rec1", fields }))).toBe(
        JSON.stringify(Object.fromEntries([["id", "rec1"], ...sorted]))
      )
    }
  })

  it.prop("is equal for equal data, and contains all of it", [FastCheck.jsonValue()], ([value]) => {
    const data: unknown = JSON.parse(JSON.stringify(value))
    expect(JSON.stringify(sorted(reversed(data)))).toBe(JSON.stringify(sorted(data)))
    expect(JSON.parse(JSON.stringify(sorted(data)))).toEqual(data)
  })
})
