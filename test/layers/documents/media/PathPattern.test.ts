import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Option from "effect/Option"
import * as PathPattern from "../../../../src/layers/documents/media/PathPattern.ts"

const matches = (pattern: string, path: ReadonlyArray<string>) =>
  PathPattern.matches(Option.getOrThrow(PathPattern.parse(pattern)), path)

describe("a pattern of paths", () => {
  it.each([
    ["image.url", ["image", "url"], true],
    ["image.url", ["image"], false],
    ["image.url", ["a", "image", "url"], false],
    ["*.url", ["3", "url"], true],
    ["*.url", ["url"], false],
    ["**.url", ["url"], true],
    ["**.image.url", ["0", "image", "image", "url"], true],
    ["**.image.url", ["0", "image", "url", "x"], false],
    ["gallery.**", ["gallery", "0", "src"], true],
    ["a\\.b.c", ["a.b", "c"], true],
    ["\\*", ["*"], true],
    ["\\*", ["a"], false],
    ["\\\\", ["\\"], true]
  ] as const)("%s matches %j: %s", (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected)
  })

  it.each(["", ".", "a.", ".a", "a..b", "a\\"])("is invalid if a level is empty: %j", (text) => {
    expect(PathPattern.parse(text)).toEqual(Option.none())
  })

  const name = FastCheck.constantFrom("a", "b", "url", "1", ".", "*", "**", "\\", "a.b")
  const path = FastCheck.array(name, { minLength: 1, maxLength: 6 })

  it.prop("made from a path matches only this path", [path, path], ([path, other]) => {
    const pattern = PathPattern.format(path)
    expect(matches(pattern, path)).toBe(true)
    expect(matches(pattern, other)).toBe(JSON.stringify(path) === JSON.stringify(other))
  })

  const level = FastCheck.constantFrom("a", "b", "*", "**")
  it.prop(
    "matches the same paths as a regular expression",
    [
      FastCheck.array(level, { minLength: 1, maxLength: 6 }),
      FastCheck.array(FastCheck.constantFrom("a", "b", "c"), { maxLength: 6 })
    ],
    ([levels, path]) => {
      const expression = levels.map((level) =>
        level === "**" ? "(/[abc])*" : level === "*" ? "/[abc]" : `/${level}`
      )
      const expected = new RegExp(`^${expression.join("")}$`).test(path.map((level) => `/${level}`).join(""))
      expect(matches(levels.join("."), path)).toBe(expected)
    }
  )
})
