import { describe, expect, it } from "@effect/vitest"
import { fingerprint } from "../../../src/layers/documents/knownDocuments.ts"

describe("a fingerprint", () => {
  const files = [
    { name: "Objects.json", digest: "1" },
    { name: "Rooms.json", digest: "2" }
  ]

  it("depends on the content of each file, and not on the order in which files were written", () => {
    expect(fingerprint(files.toReversed())).toBe(fingerprint(files))
    expect(
      fingerprint([
        { name: "Objects.json", digest: "2" },
        { name: "Rooms.json", digest: "1" }
      ])
    ).not.toBe(fingerprint(files))
  })
})
