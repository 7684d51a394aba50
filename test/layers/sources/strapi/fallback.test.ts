/**
 * Entries that a language does not have, filled from another one.
 */
import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { fillFrom } from "../../../../src/layers/sources/strapi/readType.ts"

const entriesOf = (locale: string, ids: ReadonlyArray<string>) => ({
  locale,
  entries: ids.map((documentId) => ({ documentId, locale }))
})

const fill = (own: ReadonlyArray<string>, other: ReadonlyArray<string>) =>
  fillFrom(entriesOf("de", own), entriesOf("en", other))

const idsOf = (entries: ReadonlyArray<{ readonly documentId: string }>) =>
  entries.map(({ documentId }) => documentId)

describe("fillFrom", () => {
  it("puts what is missing behind what it follows in the other language", () => {
    expect(idsOf(fill(["c", "a"], ["x", "a", "b", "y", "c", "d"]))).toEqual(["x", "c", "d", "a", "b", "y"])
  })

  it("says what a filled entry is written in, and what it stands for", () => {
    expect(fill(["a"], ["a", "b"])).toEqual([
      { documentId: "a", locale: "de" },
      { documentId: "b", locale: "de", fallbackLocale: "en" }
    ])
  })

  const ids = FastCheck.uniqueArray(FastCheck.constantFrom(..."abcdefgh"))

  it.prop(
    "has each entry of either language once, its own as they are and in their order",
    [ids, ids],
    ([own, other]) => {
      const filled = fill(own, other)
      expect([...idsOf(filled)].sort()).toEqual([...new Set([...own, ...other])].sort())
      expect(filled.filter((entry) => !("fallbackLocale" in entry))).toEqual(entriesOf("de", own).entries)
    }
  )

  it.prop("keeps the order of the other language, where both have the same", [ids, ids], ([own, other]) => {
    const sorted = [...own].sort()
    expect(
      idsOf(
        fill(
          sorted.filter((id) => other.includes(id)),
          [...other].sort()
        )
      )
    ).toEqual([...other].sort())
  })
})
