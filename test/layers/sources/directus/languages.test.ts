import { describe, expect, it } from "@effect/vitest"
import { inLanguages } from "../../../../src/layers/sources/directus/languages.ts"

const row = (languages_code: unknown, title: string) => ({ id: 7, languages_code, title })

const de = row("de-DE", "Glocke")
const en = row("en-US", "Bell")

describe("inLanguages", () => {
  it("returns each item once for each language, with the fields of its translation", () => {
    const items = [{ id: 1, year: 1862, translations: [en, de] }]
    expect(inLanguages(items, { locales: ["de-DE", "en-US"] })).toEqual([
      { id: 1, year: 1862, title: "Glocke", locale: "de-DE" },
      { id: 1, year: 1862, title: "Bell", locale: "en-US" }
    ])
  })

  it("leaves out items without a translation, or takes the fallback and reports it", () => {
    const items = [
      { id: 1, translations: [en] },
      { id: 2, translations: [] }
    ]
    expect(inLanguages(items, { locales: ["de-DE"] })).toEqual([])
    expect(inLanguages(items, { locales: ["de-DE"], fallback: "en-US" })).toEqual([
      { id: 1, title: "Bell", locale: "de-DE", fallbackLocale: "en-US" }
    ])
  })

  it("translates related items, and keeps the keys of relations that were not read", () => {
    const room = { id: 3, translations: [row("de-DE", "Halle")] }
    const items = [{ id: 1, room, other: { translations: [1, 2] }, translations: [de] }]
    expect(inLanguages(items, { locales: ["de-DE"] })).toEqual([
      {
        id: 1,
        room: { id: 3, title: "Halle" },
        other: { translations: [1, 2] },
        title: "Glocke",
        locale: "de-DE"
      }
    ])
  })

  it("finds a language by its code, or by its item", () => {
    const items = [{ id: 1, translations: [row({ code: "de-DE", name: "Deutsch" }, "Glocke")] }]
    expect(inLanguages(items, { locales: ["de-DE"] })).toMatchObject([{ title: "Glocke", locale: "de-DE" }])
  })
})
