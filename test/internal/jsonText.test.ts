import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { jsonText } from "../../src/internal/jsonText.ts"

/** The worst payloads, without errors. */
const anything = FastCheck.anything({
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true
})

const isStringifiable = (value: unknown): boolean => {
  try {
    JSON.stringify(value)
    return true
  } catch {
    return false
  }
}

const nested = (depth: number): unknown => {
  let value: unknown = "bottom"
  for (let level = 0; level < depth; level++) {
    value = [value]
  }
  return value
}

/** An error that was caused by an error, and so on. */
const chain = (length: number, level = 0): Error =>
  level + 1 === length
    ? new Error(`level ${level}`)
    : new Error(`level ${level}`, { cause: chain(length, level + 1) })

describe("jsonText", () => {
  it.prop(
    "is the text of JSON.stringify for JSON values",
    [FastCheck.jsonValue({ stringUnit: "binary" })],
    ([value]) => {
      expect(jsonText(value)).toBe(JSON.stringify(value))
    }
  )

  it.prop(
    "is one line of JSON for any value, and the text of JSON.stringify if there is one",
    [anything],
    ([value]) => {
      const text = jsonText(value)
      expect(text).not.toMatch(/[\r\n]/)
      expect(() => JSON.parse(text)).not.toThrow()
      if (isStringifiable(value)) {
        expect(text).toBe(JSON.stringify(value) ?? "null")
      }
    }
  )

  it.prop(
    "keeps the rest of a value if a part needs a placeholder",
    [anything.filter(isStringifiable)],
    ([value]) => {
      expect(jsonText({ part: 1n, rest: value })).toBe(JSON.stringify({ part: "[BigInt 1]", rest: value }))
    }
  )

  it.each([undefined, () => 1, Symbol("s"), { toJSON: () => undefined }])("is null for %o", (value) => {
    expect(jsonText(value)).toBe("null")
  })

  it("has a placeholder where JSON.stringify would throw", () => {
    const cyclic: Record<string, unknown> = { name: "cyclic" }
    cyclic.self = { inner: [cyclic] }
    expect(JSON.parse(jsonText(cyclic))).toEqual({ name: "cyclic", self: { inner: ["[Circular]"] } })
    expect(jsonText({ a: [1n, Object(2n)], b: 2 })).toBe('{"a":["[BigInt 1]","[BigInt 2]"],"b":2}')
    expect(
      jsonText({
        get bad() {
          throw new Error("no")
        },
        good: 1
      })
    ).toBe('{"bad":"[Unserializable]","good":1}')
    expect(
      jsonText([
        {
          toJSON: () => {
            throw new Error("no")
          }
        },
        1
      ])
    ).toBe('["[Unserializable]",1]')
  })

  it("writes a repeated object each time", () => {
    const shared = { a: 1 }
    expect(jsonText([shared, shared])).toBe('[{"a":1},{"a":1}]')
    expect(jsonText([shared, { shared }, 1n])).toBe('[{"a":1},{"shared":{"a":1}},"[BigInt 1]"]')
  })

  it("calls toJSON once, with the key, also beside a placeholder", () => {
    const keyed = { toJSON: (key: string) => ({ key, toJSON: () => "again" }) }
    const own = {
      a: 1,
      toJSON() {
        return this
      }
    }
    expect(jsonText({ keyed, own, part: 1n })).toBe(JSON.stringify({ keyed, own, part: "[BigInt 1]" }))
  })

  it("replaces very deep values", () => {
    expect(jsonText(nested(100))).toBe(JSON.stringify(nested(100)))
    expect(jsonText([nested(100_000), "rest"])).toMatch(/^\[+"\[Too deep\]"\]+,"rest"\]$/)
  })

  it.each<[string, () => unknown]>([
    ["a revoked object", () => revoked({})],
    ["a revoked function", () => revoked(() => {})],
    [
      "a function whose toJSON throws",
      () =>
        Object.assign(() => {}, {
          toJSON: () => {
            throw new Error("no")
          }
        })
    ],
    [
      "an object that hides its keys",
      () =>
        new Proxy(
          {},
          {
            ownKeys: () => {
              throw new Error("no")
            }
          }
        )
    ],
    ["a symbol in a box", () => Object.assign(Object(Symbol("s")), { a: 1n })]
  ])("does not throw for %s", (_, make) => {
    expect(() => JSON.parse(jsonText(make()))).not.toThrow()
    expect(JSON.parse(jsonText({ bad: make(), good: 1 }))).toMatchObject({ good: 1 })
  })

  it("describes errors with their causes", () => {
    const error = new TypeError("outer", { cause: new RangeError("inner") })
    const expected = {
      name: "TypeError",
      message: "outer",
      cause: { name: "RangeError", message: "inner" }
    }
    expect(JSON.parse(jsonText(error))).toEqual(expected)
    expect(JSON.parse(jsonText({ errors: [error], part: 1n }))).toEqual({
      errors: [expected],
      part: "[BigInt 1]"
    })
  })

  it("describes errors with their own toJSON", () => {
    const error = Object.assign(new Error("real"), { toJSON: () => "fake" })
    expect(JSON.parse(jsonText([error]))).toEqual([{ name: "Error", message: "real" }])
  })

  it("shortens a chain of causes that is circular or endless", () => {
    const loop = new Error("loop")
    loop.cause = new Error("back", { cause: loop })
    expect(JSON.parse(jsonText(loop))).toEqual({
      name: "Error",
      message: "loop",
      cause: { name: "Error", message: "back" }
    })
    expect(jsonText(chain(1000))).toContain("level 15")
    expect(jsonText(chain(1000))).not.toContain("level 16")
  })
})

const revoked = <A extends object>(target: A): A => {
  const { proxy, revoke } = Proxy.revocable(target, {})
  revoke()
  return proxy
}
