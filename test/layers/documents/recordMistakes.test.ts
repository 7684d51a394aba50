import { describe, expect, it } from "@effect/vitest"
import { isElsewhere, makeRecordMistakes } from "../../../src/layers/documents/recordMistakes.ts"

describe("a link to somebody's computer", () => {
  it.each([
    "file:///home/ann/bell.png",
    " FILE://nas/bell.png",
    "smb://nas/bell.png",
    "C:\\Users\\Ann\\bell.png",
    "\\\\nas\\photos\\bell.png\n"
  ])("is found: %j", (text) => {
    expect(isElsewhere(text)).toBe(true)
  })

  it.each(["File: bell.png", "photos\\bell.png", "https://museum.example/C:\\", "A: a bell", "\\\\ line"])(
    "is no other text: %j",
    (text) => {
      expect(isElsewhere(text)).toBe(false)
    }
  )

  it("is a warning about its field, at any depth", () => {
    const mistakes = makeRecordMistakes("field")
    mistakes.add({ id: 1, gallery: [{ file: "smb://nas/a.png" }, { file: "smb://nas/b.png" }] })
    expect(mistakes.warnings()).toMatchObject([
      { code: "file:elsewhere", subject: "gallery", text: expect.stringContaining("in 2 places") }
    ])
  })
})
