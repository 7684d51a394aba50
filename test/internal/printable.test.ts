import { describe, expect, it } from "@effect/vitest"
import * as fc from "effect/FastCheck"
import {
  maxLineLength,
  maxLines,
  printable,
  printableJson,
  printableLine
} from "../../src/internal/printable.ts"

const hostile = fc.oneof(
  fc.string({ unit: "binary", maxLength: 50 }),
  fc.constantFrom(
    "\u001b[2J",
    "\u009b31m",
    "\u202e",
    "\u2066",
    "\r",
    "\r\n",
    "\n",
    "\ud800",
    "x".repeat(maxLineLength),
    "\n".repeat(maxLines)
  )
)
const hostileText = fc.array(hostile, { maxLength: 20 }).map((parts) => parts.join(""))

describe("printable text", () => {
  it.prop("has no control characters", [hostileText], ([text]) => {
    const safe = printable(text)
    expect(safe).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u)
    expect(safe).not.toMatch(/\p{Surrogate}/u)
    expect(printableLine(text)).not.toMatch(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u)
  })

  it.prop("is limited in its lines and their length", [hostileText], ([text]) => {
    const lines = printable(text).split("\n")
    expect(lines.length).toBeLessThanOrEqual(maxLines + 1)
    for (const line of lines) {
      expect(line.length).toBeLessThanOrEqual(maxLineLength + 40)
    }
  })

  it.prop(
    "does not change if there is nothing to replace",
    [
      fc.array(
        fc
          .string({ unit: "grapheme", maxLength: 50 })
          .filter((line) => !/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u.test(line)),
        { maxLength: 20 }
      )
    ],
    ([parts]) => {
      const text = parts.join("\n")
      expect(printable(text)).toBe(text)
    }
  )

  it("shows what was replaced, and how much was left out", () => {
    expect(printable("rec\u001b[31m\u202e1\ttab")).toBe("rec�[31m�1 tab")
    expect(printable(`${"x".repeat(maxLineLength)}yy`)).toBe(
      `${"x".repeat(maxLineLength)}… (2 more characters)`
    )
    expect(printable("\n".repeat(maxLines)).endsWith("\n… (more lines)")).toBe(true)
    expect(printableLine(" a\r\nb\u0000c ")).toBe("a b c")
  })
})

describe("the printable start of a line", () => {
  it.each([
    ["Zoë größe 日本 👩", "Zoë größe 日本 👩"],
    ["\u001b[31mred\u0007\u009b", "[31mred"],
    ["a\r\n b\u2028c\n", "a b c"],
    ["gnp.\u202e\u2066exe", "gnp.\ufffd\ufffdexe"],
    ["half \ud83d", "half \ufffd"]
  ])("of %j is %j", (text, shown) => {
    expect(printableLine(text, 80)).toBe(shown)
  })

  it.prop("has at most the given length, in whole characters", [fc.string({ unit: "binary" })], ([text]) => {
    const shown = printableLine(text, 5)
    expect(Array.from(shown).length).toBeLessThanOrEqual(6)
    expect(shown).not.toMatch(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/u)
  })

  it("ends with an ellipsis if it was shortened", () => {
    expect(printableLine("four 👩", 6)).toBe("four 👩")
    expect(printableLine("four 👩!", 6)).toBe("four 👩…")
    expect(printableLine(`a${" ".repeat(1000)}b`, 6)).toBe("a…")
  })
})

describe("printable JSON", () => {
  it.prop("has the same value without control characters", [hostileText], ([text]) => {
    const json = printableJson({ text })
    expect(JSON.parse(json)).toEqual({ text })
    expect(json).not.toMatch(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u)
  })
})
