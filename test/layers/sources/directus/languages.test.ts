import { describe, expect, it } from "@effect/vitest"
import type { Item } from "../../../../src/layers/sources/directus/api.ts"
import { inLanguages, readTranslations } from "../../../../src/layers/sources/directus/languages.ts"

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

describe("rows of translations", () => {
  const readFrom = (
    items: ReadonlyArray<Item>,
    status: ReadonlyArray<string> = ["published"],
    key = "id"
  ) => {
    const { items: read, warnings } = readTranslations(items, { key, status })
    return { warnings, items: inLanguages(read, { locales: ["de-DE", "en-US"] }) }
  }

  it("without a language are left out with a warning, and their items stay", () => {
    const without = [row(null, ""), row({ name: "Deutsch" }, ""), row(undefined, "")]
    const room = { id: 9, translations: [row(null, "Halle"), de] }
    const items = [
      { id: 1, room, translations: [de, ...without, en] },
      { id: 2, translations: [row(null, "")] },
      { id: 3, translations: [en] }
    ]
    expect(readFrom(items)).toEqual({
      warnings: [
        '5 rows of "translations" without a language, left out; the item 9 has the first. Choose the language in Directus, or delete the row'
      ],
      items: [
        { id: 1, room: { id: 9, title: "Glocke" }, title: "Glocke", locale: "de-DE" },
        { id: 1, room: { id: 9 }, title: "Bell", locale: "en-US" },
        { id: 3, title: "Bell", locale: "en-US" }
      ]
    })
  })

  it("replace no field that Directus itself keeps of their items", () => {
    const item = {
      id: 5,
      sort: 3,
      status: "published",
      date_updated: "2026-11-01",
      user_created: "ada",
      objects_id: 2,
      video_id: "a",
      subtitle: "of its own"
    }
    const own = {
      sort: 1,
      status: "published",
      date_updated: "2026-11-02",
      user_created: "eve",
      video_id: "b",
      subtitle: "Bell"
    }
    const expected = { ...item, video_id: "b", subtitle: "Bell", title: "Glocke", locale: "de-DE" }
    for (const objects_id of [5, { id: 5, sort: 3 }]) {
      expect(readFrom([{ ...item, translations: [{ ...de, ...own, objects_id }] }]).items).toEqual([expected])
    }
  })

  it("give what their items do not have, and keep the keys of items with another name", () => {
    const translations = [{ ...de, number: 17, status: "published", objects_number_id: 4 }]
    expect(
      readFrom([{ number: 4, objects_number_id: 1, translations }], ["published"], "number").items
    ).toEqual([{ number: 4, objects_number_id: 1, status: "published", title: "Glocke", locale: "de-DE" }])
  })

  it("that are drafts are left out if only published content is asked for", () => {
    const items = [
      {
        id: 1,
        translations: [
          { ...de, status: "draft" },
          { ...en, status: "published" }
        ]
      }
    ]
    const bell = { id: 1, status: "published", title: "Bell", locale: "en-US" }
    expect(readFrom(items)).toEqual({ warnings: [], items: [bell] })
    for (const status of [[], ["published", "draft"]]) {
      expect(readFrom(items, status).items).toHaveLength(2)
    }
  })
})
