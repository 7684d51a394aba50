import { describe, expect, it } from "@effect/vitest"
import { isElsewhere } from "../../../src/layers/documents/media/links.ts"
import { makeRecordMistakes } from "../../../src/layers/documents/recordMistakes.ts"

describe("a link to somebody's computer", () => {
  it.each([
    "file:///home/ann/bell.png",
    " FILE://nas/bell.png",
    "smb://nas/bell.png",
    "C:\\Users\\Ann\\bell.png",
    "\\\\nas\\photos\\bell.png\n",
    "C:/Users/Ann/bell.png",
    "/Users/ann/Desktop/bell.png",
    "/Volumes/Media/bell.png",
    "cifs://nas/bell.png",
    "blob:https://cms.example/1f2e",
    '<p><img src="file:///C:/Temp/bell.png"></p>'
  ])("is found: %j", (text) => {
    expect(isElsewhere(text)).toBe(true)
  })

  it.each([
    "File: bell.png",
    "photos\\bell.png",
    "https://museum.example/C:\\",
    "A: a bell",
    "\\\\ line",
    "/users/1/bell.png",
    "data:image/png;base64,AA",
    "a file:// link"
  ])("is no other text: %j", (text) => {
    expect(isElsewhere(text)).toBe(false)
  })

  it("is a warning about its field", () => {
    const mistakes = makeRecordMistakes("field")
    for (const link of ["smb://nas/a.png", "smb://nas/b.png"]) mistakes.text(link, "gallery")
    expect(mistakes.warnings()).toMatchObject([
      { code: "file:elsewhere", subject: "gallery", text: expect.stringContaining("in 2 places") }
    ])
  })
})
