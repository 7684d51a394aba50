import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { fileKey, fileName, isPlainFileName } from "../../src/files/fileName.ts"

/** Names with many parts that file systems do not accept. */
const name = FastCheck.oneof(
  FastCheck.string({ unit: "binary", maxLength: 40 }),
  FastCheck.string({
    unit: FastCheck.constantFrom("a", "A", "%", "~", ".", " ", "/", "\\", ":", "é", "\ud800", "\0"),
    maxLength: 8
  }),
  FastCheck.tuple(
    FastCheck.constantFrom("con", "NUL", "Com1", "lpt¹", "CONIN$", "aux", "prn"),
    FastCheck.constantFrom("", ".", " ", ".txt", " .txt", "x", "%")
  ).map(([device, rest]) => device + rest),
  FastCheck.string({ unit: "grapheme", minLength: 60, maxLength: 120 })
)

describe("fileName", () => {
  it.each([
    "Objects",
    "Räume & Wege",
    "展示品",
    "a b",
    "v1.2",
    "Fragen (alt)",
    "console",
    "com10",
    "~x",
    "100€"
  ])("does not change %j", (ordinary) => {
    expect(fileName(ordinary)).toBe(ordinary)
  })

  it.each([
    ["", "%"],
    ["%", "%25"],
    [".", "%2E"],
    ["..", "%2E%2E"],
    [".env", "%2Eenv"],
    ["a.", "a%2E"],
    ["a ", "a%20"],
    ["a/b\\c", "a%2Fb%5Cc"],
    ['<>:"|?*', "%3C%3E%3A%22%7C%3F%2A"],
    ["a\nb\u007f\u0085", "a%0Ab%7F%85"],
    ["CON", "%43ON"],
    ["nul.json", "%6Eul.json"],
    ["com¹", "%63om¹"],
    ["LPT9 .x", "%4CPT9 .x"],
    ["a\ud800b", "a%uD800b"]
  ])("writes %j as %j", (given, expected) => {
    expect(fileName(given)).toBe(expected)
  })

  it("cuts a long name and keeps its beginning", () => {
    const long = `Kapitel ${"ü".repeat(300)}`
    expect(fileName(long)).toMatch(/^Kapitel ü+%~[0-9a-f]{16}$/)
    expect(fileName(`${long}a`)).not.toBe(fileName(`${long}b`))
    expect(fileName("x".repeat(200))).toBe("x".repeat(200))
  })

  it.prop("is always a safe single name", [name], ([given]) => {
    const safe = fileName(given)
    expect(safe).not.toMatch(/[\u0000-\u001f\u007f-\u009f<>:"/\\|?*]|^\.|[. ]$|^$/)
    expect(safe).not.toMatch(/\p{Surrogate}/u)
    expect(safe).not.toMatch(/^(con|prn|aux|nul|(com|lpt)[0-9¹²³]|con(in|out)\$) *(\.|$)/i)
    expect(Buffer.byteLength(safe)).toBeLessThanOrEqual(200)
  })

  it.prop("differs for different names", [name, name], ([one, other]) => {
    expect(fileName(one) === fileName(other)).toBe(one === other)
  })

  it.prop("is not a plain file name if characters were escaped", [name], ([given]) => {
    expect(isPlainFileName(given)).toBe(fileName(given) === given)
    if (!isPlainFileName(given)) {
      expect(fileName(fileName(given))).not.toBe(fileName(given))
    }
  })
})

describe("fileKey", () => {
  it.each([
    ["Objects", "OBJECTS"],
    ["Caf\u00e9", "cafe\u0301"],
    ["Straße", "STRASSE"]
  ])("is the same for %j as for %j", (one, other) => {
    expect(fileKey(one)).toBe(fileKey(other))
  })

  it("differs for names that every file system distinguishes", () => {
    expect(fileKey("a")).not.toBe(fileKey("ä"))
    expect(fileKey("a/b")).not.toBe(fileKey("a_b"))
  })

  it.prop(
    "ignores letter case and Unicode composition",
    [FastCheck.string({ unit: "grapheme", maxLength: 20 })],
    ([given]) => {
      const [decomposed, composed] = [given.normalize("NFD"), given.normalize("NFC")]
      // Some allowed characters of a file name are composed of a forbidden character.
      FastCheck.pre(!/[<>]/.test(decomposed))
      expect(fileKey(decomposed)).toBe(fileKey(composed))
    }
  )
})
