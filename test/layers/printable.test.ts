import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { printable } from "../../src/layers/printable.ts"

describe("printable", () => {
  it.each([
    ["Zoë größe 日本 👩", "Zoë größe 日本 👩"],
    ["\u001b[31mred\u0007\u009b", "\ufffd[31mred\ufffd\ufffd"],
    ["a\r\nb\u2028c", "a\ufffd\ufffdb\ufffdc"],
    ["gnp.\u202e\u2066exe", "gnp.\ufffd\ufffdexe"],
    ["half \ud83d", "half \ufffd"]
  ])("makes of %j %j", (text, shown) => {
    expect(printable(text, 80)).toBe(shown)
  })

  it.prop("keeps to its length, in whole characters", [FastCheck.string({ unit: "binary" })], ([text]) => {
    const shown = printable(text, 5)
    expect(Array.from(shown).length).toBeLessThanOrEqual(6)
    expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u)
    expect(shown.endsWith("…") && !text.endsWith("…")).toBe(
      Array.from(text).length > 5 && !text.endsWith("…")
    )
  })
})
