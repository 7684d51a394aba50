import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Option from "effect/Option"
import * as subjectToken from "../../../src/layers/nats/subjectToken.ts"

/** Names that a careless encoding would mix up, and any others. */
const text = FastCheck.oneof(
  FastCheck.constantFrom(
    "",
    " ",
    ".",
    "*",
    ">",
    "=",
    "=002e",
    "a.b",
    "7",
    "__proto__",
    "größe",
    "\ud800",
    "\0"
  ),
  FastCheck.string({ unit: "binary", maxLength: 40 }),
  FastCheck.string({ unit: "grapheme", maxLength: 40 }),
  FastCheck.array(FastCheck.nat(0xffff), { maxLength: 20 }).map((units) => String.fromCharCode(...units))
)

describe("subjectToken", () => {
  it.prop("makes one token of any text, and the same text of it", [text], ([text]) => {
    const token = Option.getOrThrow(subjectToken.encode(text))
    expect(token).toMatch(/^[\w:=-]+$/)
    expect(subjectToken.decode(token)).toBe(text)
  })

  it("leaves the usual names as they are", () => {
    expect(subjectToken.encode("content:version:promoted")).toEqual(Option.some("content:version:promoted"))
  })

  it("has no token for a text that is too long", () => {
    expect(subjectToken.encode("x".repeat(1024))).toEqual(Option.some("x".repeat(1024)))
    expect(subjectToken.encode("x".repeat(1025))).toEqual(Option.none())
    expect(subjectToken.encode(".".repeat(300))).toEqual(Option.none())
  })

  it("takes a token of somebody else as it is", () => {
    expect(subjectToken.decode("a=b")).toBe("a=b")
  })
})
