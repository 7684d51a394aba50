import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { valueSize } from "../../src/internal/keptEvents.ts"

const thrower = Object.defineProperty({}, "x", {
  enumerable: true,
  get: () => {
    throw new Error("no")
  }
})
const cycle: { self?: unknown } = {}
cycle.self = cycle

describe("valueSize", () => {
  it.prop("is at least the size of the JSON", [FastCheck.jsonValue()], ([value]) => {
    // JSON may write a character as an escape, and a number with many digits.
    expect(6 * valueSize(value) + 2).toBeGreaterThanOrEqual(JSON.stringify(value).length)
  })

  it.prop("never throws", [FastCheck.anything({ withBigInt: true, withSparseArray: true })], ([value]) => {
    expect(valueSize(value)).toBeGreaterThan(0)
  })

  it("counts text, bytes and names, each once", () => {
    const text = "x".repeat(10_000)
    const shared = { text }
    for (const value of [text, [text], { [text]: 1 }, new Uint8Array(10_000), [shared, shared]]) {
      expect(valueSize(value)).toBeGreaterThan(10_000)
      expect(valueSize(value)).toBeLessThan(10_200)
    }
  })

  it("accepts unreadable, cyclic and very deep values", () => {
    let deep: unknown = 1
    for (let depth = 0; depth < 100_000; depth++) {
      deep = [deep]
    }
    for (const value of [thrower, cycle, deep, new Proxy({}, { ownKeys: () => ["x", "x"] })]) {
      expect(valueSize(value)).toBeGreaterThan(0)
    }
  })
})
