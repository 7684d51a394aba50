import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import { nameOf, subjectOf } from "../../../src/layers/nats/streams.ts"

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

const subject = (name: string) => subjectOf("vitrine", "events", name)

describe("the subject of a name", () => {
  it.effect.prop("is one token, from which the name can be read", [text], ([name]) =>
    Effect.gen(function* () {
      const made = yield* subject(name)
      expect(made).toMatch(/^vitrine\.events\.[\w:=-]+$/)
      expect(nameOf(made)).toBe(name)
    })
  )

  it.effect("contains usual names unchanged", () =>
    Effect.map(subject("content:version:promoted"), (made) =>
      expect(made).toBe("vitrine.events.content:version:promoted")
    )
  )

  it.effect("does not exist for a name that is too long", () =>
    Effect.gen(function* () {
      expect(yield* subject("x".repeat(1024))).toBe(`vitrine.events.${"x".repeat(1024)}`)
      for (const name of ["x".repeat(1025), ".".repeat(300)]) {
        expect((yield* Effect.flip(subject(name))).detail).toContain("is too long for a subject")
      }
    })
  )

  it("of another program is read unchanged", () => {
    expect(nameOf("vitrine.events.a=b")).toBe("a=b")
  })
})
