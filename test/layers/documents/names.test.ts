import { describe, expect, it } from "@effect/vitest"
import { documentKey, nameWarnings } from "../../../src/layers/documents/names.ts"
import { textsOf } from "../../support/warnings.ts"

describe("documents that people read as one", () => {
  it.each([
    "OBJECTS",
    "objects (1)",
    "objects - Copy",
    "objects - Kopie 2",
    "Copy of objects",
    "objects copy 2",
    "objects.csv",
    "objects (1).csv.json",
    "objects-DESKTOP-7K2J1Q",
    "objects (Case Conflict)",
    "objects (another copy)",
    "objects - Cópia",
    "objects [conflicted]",
    "objects-Anns-MacBook-Pro",
    "objects - Sheet1",
    "Kopie van objects",
    "objects (Ann Smith's conflicted copy 2026-11-20)",
    "objects.sync-conflict-20261120-101112-ABCDEFG"
  ])("are copies, and have doubled extensions: %s", (name) => {
    expect(documentKey(name)).toBe("objects")
  })

  it.each([
    "objects 2",
    "objects (old)",
    "objects (copyright)",
    "objects - 2",
    "objects-2026",
    "objectscopy",
    "objects.v2"
  ])("are no documents with other names: %s", (name) => {
    expect(documentKey(name)).not.toBe("objects")
  })
})

describe("names that are rarely intended", () => {
  it("are named, and those that look alike together", () => {
    const names = ["title ", "Title", "open\u00ading hours", "Cafe\u0301", "caf\u00e9", "café"]
    expect(textsOf(nameWarnings("key", new Set(names)))).toEqual([
      'the name of the key "title " has an invisible character or a needless space. Remove it.',
      'the name of the key "open\\u00ading hours" has an invisible character or a needless space. Remove it.',
      'the keys "title " and "Title" have almost the same name. Rename or remove one.',
      'the keys "Cafe\u0301" and "café" have almost the same name. Rename or remove one.'
    ])
  })
})
