import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { makeDigest } from "../../../src/layers/tables/Fingerprint.ts"
import { savedRecord, savedText } from "../../../src/layers/tables/SavedJson.ts"

const attachment = (signature: string) => ({
  id: "att1",
  url: `https://files.example/${signature}`,
  filename: "a.png"
})

const cell = FastCheck.oneof(
  FastCheck.jsonValue(),
  FastCheck.constantFrom([], {}, [{}], "\n},\n{", "\n  ", [attachment("x")])
)

const records = FastCheck.array(
  FastCheck.dictionary(FastCheck.oneof(FastCheck.string(), FastCheck.constantFrom("}", "1", "id")), cell).map(
    (fields) => savedRecord({ id: "rec1", fields })
  ),
  { minLength: 1, maxLength: 5 }
)

const sumOfAll = (values: ReadonlyArray<object>): string => {
  const digest = makeDigest()
  digest.addAll(values, savedText(values))
  return digest.sum()
}

describe("a digest", () => {
  it.prop("is the same whether records come one by one or together", [records], ([values]) => {
    const digest = makeDigest()
    for (const value of values) digest.add(value, savedText(value))
    expect(sumOfAll(values)).toBe(digest.sum())
  })

  it("does not depend on how attachments are signed, in records with columns of the same names neither", () => {
    const signed = (signature: string) => [{ ...attachment("column"), pictures: [attachment(signature)] }]
    expect(sumOfAll(signed("a"))).toBe(sumOfAll(signed("b")))
    expect(sumOfAll([attachment("a")])).not.toBe(sumOfAll([attachment("b")]))
  })
})
