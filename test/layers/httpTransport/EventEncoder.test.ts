import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { matching } from "../../../src/layers/httpTransport/EventEncoder.ts"

/** Few letters, so that names and patterns meet. */
const word = FastCheck.string({
  unit: FastCheck.constantFrom("a", "b", ":", "*", ".", "$", "é"),
  maxLength: 5
})

/** The rules of the specification as an anchored regular expression. */
const matches = (pattern: string, name: string): boolean => {
  const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
  const source = pattern.endsWith("*") ? `${literal(pattern.slice(0, -1))}[^]*` : literal(pattern)
  return new RegExp(`^${source}$`).test(name)
}

describe("the filter of events", () => {
  it.prop(
    "accepts names that match one of the patterns",
    [FastCheck.array(word, { maxLength: 4 }), word],
    ([patterns, name]) => {
      expect(matching(patterns)(name)).toBe(patterns.some((pattern) => matches(pattern, name)))
    },
    { fastCheck: { numRuns: 500 } }
  )

  it.each([
    [["content:*"], "content:version:promoted", true],
    [["content:*"], "content:", true],
    [["content:*"], "content", false],
    [["content:*"], "Content:fetch", false],
    [["content:*"], "my:content:fetch", false],
    [["*"], "anything\nat all", true],
    [["*"], "", true],
    [[], "", false],
    [["a", "b"], "b", true],
    [["a"], "ab", false],
    [["a*b"], "axb", false],
    [["a*b"], "a*b", true],
    [["a**"], "a*x", true],
    [["a**"], "ax", false],
    [["constructor"], "toString", false]
  ])("with %j accepts %j: %j", (patterns, name, accepted) => {
    expect(matching(patterns)(name)).toBe(accepted)
  })
})
