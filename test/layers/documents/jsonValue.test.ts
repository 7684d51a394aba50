import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import { readJson } from "../../../src/layers/documents/jsonValue.ts"
import { makeValueCount } from "../../../src/layers/documents/valueCount.ts"

const read = (text: string) => {
  const kept: Array<string> = []
  return readJson(text, {
    count: makeValueCount(),
    keepDigits: (digits) => kept.push(digits)
  }).pipe(Effect.map((value) => ({ value, kept })))
}

/** Long enough to be read in pieces. */
const long = (text: string) => `[${text},"${"x".repeat(300_000)}"]`

const digits = (maxLength: number) =>
  FastCheck.string({ unit: FastCheck.constantFrom(..."0123456789"), minLength: 1, maxLength })

const numbers = FastCheck.record({
  sign: FastCheck.constantFrom("", "-"),
  whole: digits(25).map((text) => text.replace(/^0+(?=.)/, "")),
  fraction: FastCheck.option(digits(25)),
  exponent: FastCheck.option(
    FastCheck.record({
      mark: FastCheck.constantFrom("e", "E"),
      sign: FastCheck.constantFrom("", "-", "+"),
      digits: digits(3)
    })
  )
}).map(
  ({ exponent, fraction, sign, whole }) =>
    `${sign}${whole}${fraction === null ? "" : `.${fraction}`}${exponent === null ? "" : `${exponent.mark}${exponent.sign}${exponent.digits}`}`
)

/** As a fraction of integers. */
const exactly = (written: string) => {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(written) ?? []
  const power = Number(exponent) - fraction.length
  const value = BigInt(`${whole}${fraction}`) * (sign === "-" ? -1n : 1n)
  return {
    over: power > 0 ? value * 10n ** BigInt(power) : value,
    under: power < 0 ? 10n ** BigInt(-power) : 1n
  }
}

const areEqual = (one: string, other: string) => {
  const [a, b] = [exactly(one), exactly(other)]
  return a.over * b.under === b.over * a.under
}

describe("JSON from outside", () => {
  it.effect.prop(
    "has every number as an equal number, or as the text of its digits",
    { number: numbers },
    ({ number }) =>
      Effect.gen(function* () {
        const { kept, value } = yield* read(`{"n":[${number}]}`)
        const { n: [saved] = [] } = value as { readonly n: ReadonlyArray<unknown> }
        if (typeof saved === "number") {
          const isDouble = areEqual(number, String(saved)) || Number(number) === saved
          expect(isDouble && Number.isFinite(saved)).toBe(true)
          expect(/^-?\d+$/.test(number) && !areEqual(number, JSON.stringify(saved))).toBe(false)
          expect(kept).toEqual([])
        } else {
          expect(saved).toBe(number)
          expect(areEqual(number, String(Number(number)).replace("Infinity", "0"))).toBe(
            /^-?[0.]+(?:e.*)?$/i.test(number)
          )
          expect(kept).toEqual([number])
        }
      }),
    { fastCheck: { numRuns: 500 } }
  )

  it.effect.prop(
    "keeps all numbers that JSON.stringify writes",
    {
      number: FastCheck.double({ noNaN: true, noDefaultInfinity: true }),
      precision: FastCheck.integer({ min: 15, max: 17 })
    },
    ({ number, precision }) =>
      Effect.gen(function* () {
        const written = JSON.stringify(number)
        expect((yield* read(`[${written}]`)).value).toEqual([number === 0 ? Number(written) : number])
        if (!Number.isInteger(number)) {
          const rounded = number.toPrecision(precision)
          expect((yield* read(`[${rounded}]`)).value).toEqual([Number(rounded)])
        }
      }),
    { fastCheck: { numRuns: 300 } }
  )

  it.effect.prop(
    "has the same value whether it is parsed in pieces or at once",
    {
      value: FastCheck.jsonValue({ noUnicodeString: false }),
      at: FastCheck.nat(),
      inserted: FastCheck.constantFrom("", "{", "]", ",", '"', "x", "\n", "0", "-", "\\", "\u0000", "1.", " ")
    },
    ({ at, inserted, value }) =>
      Effect.gen(function* () {
        const signs = [...JSON.stringify(value, null, 1)]
        const edited = long(signs.toSpliced(at % (signs.length + 1), 0, inserted).join(""))
        const expected = yield* Effect.option(Effect.try((): unknown => JSON.parse(edited)))
        const given = yield* Effect.option(read(edited))
        expect(given._tag).toBe(expected._tag)
        if (given._tag === "Some" && expected._tag === "Some" && given.value.kept.length === 0) {
          expect(given.value.value).toEqual(expected.value)
        }
      }),
    { fastCheck: { numRuns: 200 } }
  )

  it.effect("is refused where a number has more than 1,000 digits", () =>
    Effect.gen(function* () {
      expect((yield* read(`{"a":[1${"0".repeat(999)}]}`)).value).toEqual({ a: [`1${"0".repeat(999)}`] })
      for (const number of [`1${"0".repeat(1000)}`, `1${"0".repeat(3_000_000)}1`]) {
        for (const sign of ["", "-"]) {
          expect(yield* Effect.flip(read(`{"a":[${sign}${number}]}`))).toMatchObject({
            problem: "it has a number of more than 1,000 digits, at byte 7."
          })
        }
      }
    })
  )

  it.effect("is refused where an object has more than 100,000 fields", () =>
    Effect.gen(function* () {
      const fields = (count: number) =>
        Array.from({ length: count }, (_, index) => `"${index}":{"a":0}`).join()
      const lists = yield* read(`[{${fields(100_000)}},{${fields(100_000)}}]`)
      expect(lists.value).toHaveLength(2)
      expect(yield* Effect.flip(read(`{"list":[{${fields(100_001)}}]}`))).toMatchObject({
        problem: "it has an object with more than 100,000 fields, which would better be a list."
      })
    })
  )
})
