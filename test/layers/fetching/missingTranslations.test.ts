import { expect, it } from "@effect/vitest"
import { missingTranslations } from "../../../src/layers/fetching/missingTranslations.ts"

it("a text that is there in one language and not in another is counted by its field", () => {
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
])("what is %s has nothing missing", (_, json) => {
  expect(missingTranslations("Objects.json", json)).toEqual([])
})
