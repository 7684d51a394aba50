import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { Refused } from "../../../src/layers/documents/budget.ts"
import { readJson } from "../../../src/layers/documents/readText.ts"

const integers = FastCheck.tuple(
  FastCheck.constantFrom("", "-"),
  FastCheck.oneof(
    FastCheck.string({ unit: FastCheck.constantFrom(..."0123456789"), minLength: 1, maxLength: 25 }),
    FastCheck.bigInt({ min: 2n ** 52n, max: 2n ** 70n }).map(String)
  ).map((digits) => digits.replace(/^0+(?=.)/, ""))
).map(([sign, digits]) => `${sign}${digits}`)

describe("JSON from outside", () => {
  it.prop(
    "keeps every digit of an integer: as an equal number, or as a text",
    { integer: integers },
    ({ integer }) => {
      const { digits, value } = readJson(`{"a":[${integer}]}`)
      const isSame = String(Number(integer)) === integer || BigInt(Number(integer)) === BigInt(integer)
      expect(value).toEqual({ a: [isSame ? JSON.parse(integer) : integer] })
      expect(digits).toEqual(isSame ? [] : [integer])
    },
    { fastCheck: { numRuns: 500 } }
  )

  it.prop(
    "has all other values as in JSON.parse, with any digits in texts",
    {
      value: FastCheck.jsonValue({ noUnicodeString: false }),
      name: FastCheck.array(
        FastCheck.constantFrom('"', "\\", "12345678901234567890", ",", "\n", "-", "{", "é")
      ).map((parts) => parts.join(""))
    },
    ({ name, value }) => {
      const text = JSON.stringify({ [name]: [value, name], long: "12345678901234567890" })
      expect(readJson(text)).toEqual({ value: JSON.parse(text), digits: [] })
    },
    { fastCheck: { numRuns: 300 } }
  )

  it("keeps numbers beyond all doubles as texts", () => {
    expect(readJson('{"a":[1e400,-1E+999,"1e400"],"b":1e308}')).toEqual({
      value: { a: ["1e400", "-1E+999", "1e400"], b: 1e308 },
      digits: ["1e400", "-1E+999"]
    })
  })

  it("keeps fractions and exponents as numbers", () => {
    expect(readJson("[1234567890123456.5,1e20,12345678901234567e-3]").value).toEqual([
      1234567890123456.5, 1e20, 12345678901234.566
    ])
  })

  it("throws if it is no JSON, also if it contains long digits", () => {
    for (const text of ["", "[12345678901234567890", "12345678901234567890x", '"12345678901234567890']) {
      expect(() => readJson(text)).toThrow(SyntaxError)
    }
  })

  it("is refused with more than ten million values, commas and brackets alike, in all texts of a document", () => {
    for (const part of ["0,", "[],", "{},"]) {
      expect(() => readJson(`[${part.repeat(10_000_001 / (part.length - 1))}0]`)).toThrow(Refused)
    }
    const soFar = { values: 9_999_990 }
    expect(readJson("[0,0,0]", soFar).value).toEqual([0, 0, 0])
    expect(() => readJson("[0,0,0,0,0,0,0,0,0]", soFar)).toThrow("more than 10,000,000 values")
  })

  it("takes time in proportion to its length", () => {
    const texts = ["1".repeat(2_000_000), `"${'\\"'.repeat(2_000_000)}`, `["${"x".repeat(8_000_000)}`]
    for (const text of texts) expect(() => readJson(`[${text}12345678901234567890`)).toThrow(SyntaxError)
  })
})
