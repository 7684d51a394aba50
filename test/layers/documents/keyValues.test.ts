import { describe, expect, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import { mistakeText } from "../../../src/internal/mistake.ts"
import { keyValues } from "../../../src/layers/documents/keyValues.ts"
import { textsOf } from "../../support/warnings.ts"

const rows = (...cells: ReadonlyArray<Record<string, unknown>>) =>
  cells.map((fields, index) => ({ id: `rec${index}`, fields }))

const read = (...cells: ReadonlyArray<Record<string, unknown>>) =>
  Either.getOrThrowWith(keyValues(rows(...cells)), (error) => error)

const value = (cell: unknown) => (read({ key: "k", value: cell }).value as Record<string, unknown>).k

const failure = (...cells: ReadonlyArray<Record<string, unknown>>) =>
  Either.match(keyValues(rows(...cells)), { onLeft: (mistake) => mistakeText(mistake), onRight: () => "" })

describe("a key/value table", () => {
  it.each([
    ["true", true],
    ["false", false],
    ["0", 0],
    ["-1.5", -1.5],
    ["1e+21", 1e21],
    ["True", "True"],
    ["007", "007"],
    ["12 Main St", "12 Main St"],
    ["2024-01-01", "2024-01-01"],
    ["1e5", "1e5"],
    ["1.0", "1.0"],
    ["-0", "-0"],
    [" 1", " 1"],
    ["+1", "+1"],
    ["0x10", "0x10"],
    ["NaN", "NaN"],
    ["Infinity", "Infinity"],
    ["9007199254740993", "9007199254740993"],
    [5, 5],
    [true, true],
    [null, null],
    [undefined, null]
  ])("reads the value %j as %j", (cell, expected) => {
    expect(value(cell)).toBe(expected)
  })

  it("reports records and keys on one line, whatever characters they have", () => {
    const hostile = `rec\n09:30:00  error\u202e${"x".repeat(1000)}`
    const fails = (key: string) =>
      Either.match(keyValues([{ id: hostile, fields: { key } }]), {
        onLeft: (mistake) => [mistakeText(mistake)],
        onRight: ({ warnings }) => warnings.map(({ text }) => text)
      })
    for (const text of [...fails(""), ...fails(`${hostile}[10000]`)]) {
      expect(text).toContain("rec 09:30:00 error\ufffdxxx")
      expect(text).not.toMatch(/[\n\u202e]/)
      expect(text.length).toBeLessThan(1500)
    }
  })

  it("keeps values that are not texts", () => {
    expect(value(["1", "true"])).toEqual(["1", "true"])
    expect(value({ error: "#ERROR!" })).toEqual({ error: "#ERROR!" })
  })

  it.prop(
    "reads every finite number as it is written in JavaScript",
    [FastCheck.double({ noNaN: true })],
    ([number]) => {
      expect(value(String(number))).toBe(Number.isFinite(number) ? number + 0 : String(number))
    }
  )

  it.prop("converts a text only if the value is written as the same text", [FastCheck.string()], ([text]) => {
    expect(String(value(text))).toBe(text)
  })

  it("sorts its keys and ignores other columns", () => {
    const { value, warnings } = read(
      { key: "b", value: { d: 1, c: 2 }, Notes: "…" },
      { key: "a", value: "1" },
      { key: "__proto__", value: "x" }
    )
    expect(JSON.stringify(value)).toBe('{"__proto__":"x","a":1,"b":{"c":2,"d":1}}')
    expect(textsOf(warnings)).toEqual([])
  })

  it("builds arrays, with null for missing items", () => {
    const { value } = read(
      { key: "a[2]", value: "3" },
      { key: "a[0]", value: "true" },
      { key: "b c[0]" },
      { key: "m[0][1]", value: "x" }
    )
    expect(value).toEqual({ a: [true, null, 3], "b c": [null], "m[0]": [null, "x"] })
  })

  it.each(["a[01]", "a[-1]", "a[1.0]", "a[ 1]", "a[]", "a[x]", "[0]", "a[1] ", "a[1"])(
    "reads %j as an ordinary key",
    (key) => {
      expect(read({ key, value: "v" }).value).toEqual({ [key]: "v" })
    }
  )

  it("reports the rows that were left out, five of them by name", () => {
    const { value, warnings } = read(
      {},
      { value: "x" },
      { key: "" },
      { key: null },
      { key: ["a"] },
      { key: "k", value: "1" },
      { key: { error: "#ERROR!" } }
    )
    expect(value).toEqual({ k: 1 })
    expect(textsOf(warnings)).toEqual([
      '6 rows have no text in the column "key" and are left out (rec0, rec1, rec2, rec3, rec4, …). Write a key.'
    ])
  })

  it("takes `Key` and `Value` for its columns, and warns of columns that look alike", () => {
    expect(read({ Key: "title", "VALUE\u200b": "Bells" }).value).toEqual({ title: "Bells" })
    const { value, warnings } = read({ key: "title", Key: "other", value: "Bells" })
    expect(value).toEqual({ title: "Bells" })
    expect(textsOf(warnings)).toEqual([
      'the columns "key" and "Key" have almost the same name. Rename or remove one. A warning that it is gone can then be accepted.'
    ])
  })

  it("is refused without one of its columns, unless it has no other column", () => {
    expect(failure({ Schlüssel: "title", Wert: "Bells" })).toContain(
      'it has no column "key"; its columns are "Schlüssel", "Wert"'
    )
    expect(failure({ key: "title", Wert: "Bells" })).toContain('it has no column "value"')
    expect(read({ key: "title" }).value).toEqual({ title: null })
    expect(read({}).value).toEqual({})
  })

  it("uses the last of several rows with one key, and reports it", () => {
    const { value, warnings } = read(
      { key: "a", value: "1" },
      { key: "a", value: "2" },
      { key: "b[0]", value: "3" },
      { key: "b[0]" }
    )
    expect(value).toEqual({ a: 2, b: [null] })
    expect(textsOf(warnings)).toEqual([
      'the key "a" is in more than one row (rec0, rec1), and the last one counts. Remove the others.',
      'the key "b[0]" is in more than one row (rec2, rec3), and the last one counts. Remove the others.'
    ])
  })

  it("accepts numbers as keys", () => {
    expect(read({ key: 7, value: "x" }).value).toEqual({ 7: "x" })
  })

  it.each([[[{ key: "a" }, { key: "b" }, { key: "a[0]" }]], [[{ key: "a[3]" }, { key: "b" }, { key: "a" }]]])(
    "refuses a key that is both a value and an array, and names both records: %j",
    (cells) => {
      expect(failure(...cells)).toBe(
        'the key "a" is a value and an array at once (rec0, rec2); rename one of them'
      )
    }
  )

  it("refuses an array that is too long", () => {
    expect(textsOf(read({ key: "a[9999]" }).warnings)).toEqual([])
    expect(failure({ key: "b" }, { key: "a[10000]" })).toBe('the key "a[10000]" (rec1) is beyond "a[9999]"')
    expect(failure({ key: `a[1${"0".repeat(400)}]` })).toContain("beyond")
  })

  it("knows the row of each item of an array", () => {
    const { recordOf } = read({ key: "photos[0]" }, { key: "photos[1]" }, { key: "name" })
    expect(["photos", "photos[1]", "photos[2]", "name", "name[0]"].map(recordOf)).toEqual([
      "rec0",
      "rec1",
      undefined,
      "rec2",
      undefined
    ])
  })

  it("refuses arrays with more items than a document may have, missing items included", () => {
    const cells = Array.from({ length: 2001 }, (_, index) => ({ key: `a${index}[9999]` }))
    expect(() => failure(...cells)).toThrow("more than 20,000,000 values")
  })
})
