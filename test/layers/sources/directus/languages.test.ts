import { describe, expect, it } from "@effect/vitest"
import type { JsonObject as Item } from "../../../../src/layers/documents/jsonValues.ts"
import { readTranslations, translated } from "../../../../src/layers/sources/directus/languages.ts"

const row = (languages_code: unknown, title: string) => ({ id: 7, languages_code, title })

const de = row("de-DE", "Glocke")
const en = row("en-US", "Bell")

describe("translated", () => {
  const items = [
    { id: 1, year: 1862, translations: [en, de] },
    { id: 2, translations: [en] },
    { id: 3, year: 1900 }
  ]

  it("gives each field of the translations by the languages", () => {
    expect(translated(items, [])).toEqual([
      { id: 1, year: 1862, title: { "de-DE": "Glocke", "en-US": "Bell" } },
      { id: 2, title: { "en-US": "Bell" } },
      { id: 3, year: 1900 }
    ])
  })

  it("leaves out other languages, and items that have translations in others only", () => {
    expect(translated(items, ["de-DE"])).toEqual([
      { id: 1, year: 1862, title: { "de-DE": "Glocke" } },
      { id: 3, year: 1900 }
    ])
  })

  it("translates related items, and keeps the keys of relations that were not read", () => {
    const room = { id: 3, translations: [row({ code: "de-DE", name: "Deutsch" }, "Halle")] }
    expect(translated([{ id: 1, room, other: { translations: [1, 2] } }], ["de-DE"])).toEqual([
      { id: 1, room: { id: 3, title: { "de-DE": "Halle" } }, other: { translations: [1, 2] } }
    ])
  })
})

describe("rows of translations", () => {
  const readFrom = (items: ReadonlyArray<Item>, key = "id") => {
    const { items: read, warnings } = readTranslations(items, { key, locales: [] })
    return { warnings: warnings.map(({ text }) => text), items: translated(read, ["de-DE", "en-US"]) }
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
        {
          id: 1,
          room: { id: 9, title: { "de-DE": "Glocke" } },
          title: { "de-DE": "Glocke", "en-US": "Bell" }
        },
        { id: 3, title: { "en-US": "Bell" } }
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
    const inGerman = {
      video_id: { "de-DE": "b" },
      subtitle: { "de-DE": "Bell" },
      title: { "de-DE": "Glocke" }
    }
    const expected = { ...item, ...inGerman }
    for (const objects_id of [5, { id: 5, sort: 3 }]) {
      expect(readFrom([{ ...item, translations: [{ ...de, ...own, objects_id }] }]).items).toEqual([expected])
    }
  })

  it("give what their items do not have, and keep the keys of items with another name", () => {
    const translations = [{ ...de, number: 17, status: "published", objects_number_id: 4 }]
    expect(readFrom([{ number: 4, objects_number_id: 1, translations }], "number").items).toEqual([
      {
        number: 4,
        objects_number_id: 1,
        status: { "de-DE": "published" },
        title: { "de-DE": "Glocke" }
      }
    ])
  })
})
