import { describe, expect, it } from "@effect/vitest"
import { decode } from "../../../src/layers/content/ContentOptions.ts"

describe("ContentOptions", () => {
  it("asks for effect 3 where a source is made with another version", () => {
    // As Effect 4 marks its own.
    const make = JSON.parse('{ "~effect/Effect": "~effect/Effect" }')
    expect(decode({ sources: [{ id: "mine", issues: [], make }] })).toMatchObject({
      left: {
        issues: [
          { path: "sources[0].make", message: "Vitrine needs effect 3: expected an Effect of that version" }
        ]
      }
    })
  })
})
