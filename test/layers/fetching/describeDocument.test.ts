import { describe, expect, it } from "@effect/vitest"
import { describeDocument, missingTranslations } from "../../../src/layers/fetching/describeDocument.ts"

it("texts that are missing in one language are counted by field", () => {
  const records = [
    { id: "1", title_de: "Glocke", title_en: "Bell", sound_de: ["a.mp3"], sound_en: [] },
    { id: "2", title_en: "Globe", sound_de: null, sound_en: [] },
    { id: "3", title_de: "", title_en: "Lens" },
    { id: "4" }
  ]
  expect(missingTranslations("Objects.json", records)).toEqual([
    'Objects.json: "title_de" is empty where "title" is there in another language: 2 of 3 records',
    'Objects.json: "sound_en" is empty where "sound" is there in another language: 1 of 1 record'
  ])
})

it.each([
  ["complete", [{ title_de: "Glocke", title_en: "Bell" }]],
  [
    "of no languages",
    [
      { width_cm: 1, height_mm: 2, made_by: "x" },
      { width_mm: 2, text_zz: "" }
    ]
  ],
  ["in one language", [{ title_de: "Glocke" }, { title_de: "" }]],
  ["no record", [1, "title_de", null]],
  ["no list", "title_de"]
])("a value that is %s has no missing languages", (_, json) => {
  expect(missingTranslations("Objects.json", json)).toEqual([])
})

describe("the description of a document", () => {
  it("lists the fields of a value, and the places of links as patterns", () => {
    const document = {
      title: "A",
      files: [{ "a.b": "/media/film.mp4" }, { "a.b": "./film.mp4" }],
      page: "https://a.example/"
    }
    expect(describeDocument(document)).toEqual({
      holds: "value",
      records: 1,
      fields: [
        { field: "title", types: ["text"], example: "A" },
        { field: "files", types: ["list"] },
        { field: "page", types: ["text"], example: "https://a.example/" }
      ],
      links: [{ path: "files.*.a\\.b", count: 2, example: "/media/film.mp4" }]
    })
  })

  it("lists a limited number of fields and links, and counts the links of all records", () => {
    const records = Array.from({ length: 1000 }, (_, id) =>
      Object.fromEntries(Array.from({ length: 200 }, (_, field) => [`f${field}`, `/${id}.jpg`]))
    )
    const { fields, links, records: count } = describeDocument(records)
    expect([count, fields.length, links.length, links[0]?.count]).toEqual([1000, 100, 20, 1000])
  })
})
