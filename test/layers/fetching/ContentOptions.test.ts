import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { decode } from "../../../src/layers/fetching/ContentOptions.ts"

describe("ContentOptions", () => {
  it("asks for effect 3 if a source uses another version", () => {
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

  it("refuses sources whose folders would conflict in a version", () => {
    const make = Effect.never
    const source = (id: string) => ({ id, issues: [], make })
    const issuesOf = (...ids: ReadonlyArray<string>) => decode({ sources: ids.map(source) })
    expect(issuesOf("tours", "Tours")).toMatchObject({ left: { issues: [{ path: "sources[1].id" }] } })
    expect(issuesOf("tours", "FILES.json")).toMatchObject({
      left: {
        issues: [
          {
            path: "sources[1].id",
            message: "must not be files.json: every version has a file of this name"
          }
        ]
      }
    })
  })
})
