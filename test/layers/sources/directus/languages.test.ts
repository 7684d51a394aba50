import { describe, expect, it } from "@effect/vitest"
import { inLanguages } from "../../../../src/layers/sources/directus/languages.ts"

const row = (languages_code: unknown, title: string) => ({ id: 7, languages_code, title })

const de = row("de-DE", "Glocke")
const en = row("en-US", "Bell")

describe("inLanguages", () => {
  it("gives each item once in each language, with the fields of its translation as its own", () => {
    const items = [{ id: 1, year: 1862, translations: [en, de] }]
    expect(inLanguages(items, { locales: ["de-DE", "en-US"] })).toEqual([
      { id: 1, year: 1862, title: "Glocke", locale: "de-DE" },
      { id: 1, year: 1862, title: "Bell", locale: "en-US" }
    ])
  })

  it("leaves out what is not translated, or takes it from the fallback and says so", () => {
    const items = [
      { id: 1, translations: [en] },
      { id: 2, translations: [] }
    ]
    expect(inLanguages(items, { locales: ["de-DE"] })).toEqual([])
    expect(inLanguages(items, { locales: ["de-DE"], fallback: "en-US" })).toEqual([
      { id: 1, title: "Bell", locale: "de-DE", fallbackLocale: "en-US" }
    ])
  })

  it("translates what relations lead to, and leaves keys alone that they do not lead through", () => {
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

  it("knows a language by its code, and by itself", () => {
    const items = [{ id: 1, translations: [row({ code: "de-DE", name: "Deutsch" }, "Glocke")] }]
    expect(inLanguages(items, { locales: ["de-DE"] })).toMatchObject([{ title: "Glocke", locale: "de-DE" }])
  })
})
