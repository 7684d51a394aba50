import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { language } from "../../../../src/layers/client/helpers/language.ts"

describe("a row with a field for each language", () => {
  it("has the field in the first language that is not empty, or the field without a language", () => {
    const row = {
      id: "rec1",
      title: "Bell, Glocke",
      title_de: "Glocke",
      title_en: "Bell",
      text: "Both",
      text_de: "",
      text_en: "It rings.",
      sound: "bell.mp3",
      sound_de: [],
      note_fr: "Cloche"
    }
    expect(language(row, "de", "en")).toEqual({
      id: "rec1",
      title: "Glocke",
      text: "It rings.",
      sound: "bell.mp3",
      note_fr: "Cloche"
    })
    expect(language(row, "fr", "en").title).toBe("Bell, Glocke")
    expect(language(row, "en", "de").title).toBe("Bell")
    expect(language(row, "it")).toEqual(row)
  })

  it("uses the field without a language for the first language that has no field", () => {
    const row = { title: "Bell", title_de: "Glocke" }
    expect(language(row, "en", "de")).toEqual({ title: "Bell" })
    expect(language(row, "de", "en")).toEqual({ title: "Glocke" })
    expect(language({ ...row, title: "" }, "en", "de")).toEqual({ title: "Glocke" })
    expect(language({ ...row, title_de: "" }, "de", "en")).toEqual({ title: "Bell" })
  })

  it("is typed with the field without a language, if that is required", () => {
    const rows: ReadonlyArray<{ readonly title: string; readonly title_de?: string }> = [{ title: "Bell" }]
    const titles: ReadonlyArray<string> = language(rows, "de").map(({ title }) => title)
    expect(titles).toEqual(["Bell"])
  })

  it("is typed by its fields", () => {
    const rows: ReadonlyArray<{
      readonly id: string
      readonly title_de?: string
      readonly title_en: string
      readonly year: number
      readonly alt: { readonly _type: "localeString"; readonly de?: string; readonly en: string }
    }> = [{ id: "1", title_en: "Bell", year: 1862, alt: { _type: "localeString", en: "A bell" } }]
    const typed: ReadonlyArray<{
      readonly id: string
      readonly title?: string | undefined
      readonly year: number
      readonly alt: string | undefined
    }> = language(rows, "de", "en")
    expect(typed).toEqual([{ id: "1", title: "Bell", year: 1862, alt: "A bell" }])
  })
})

describe("a value in languages", () => {
  it.each([
    ["an object of Sanity", { _type: "localeString", en: "Bell", de: "Glocke" }],
    ["an object of Contentful", { "en-US": "Bell", "de-DE": "Glocke" }]
  ])("is the text in the first language that it has: %s", (_, title) => {
    const rows = [{ _id: "1", cover: { alt: title }, title }]
    expect(language(rows, "de", "en")).toEqual([{ _id: "1", cover: { alt: "Glocke" }, title: "Glocke" }])
    expect(language(rows, "fr", "en")).toEqual([{ _id: "1", cover: { alt: "Bell" }, title: "Bell" }])
  })

  it("prefers the language itself to that of a country, and a country to another language", () => {
    const title = { "de-AT": "Marille", de: "Aprikose", "en-US": "Apricot" }
    expect(language({ title }, "de", "en")).toEqual({ title: "Aprikose" })
    expect(language({ title: { ...title, de: "" } }, "de", "en")).toEqual({ title: "Marille" })
    expect(language({ title }, "de-AT", "en")).toEqual({ title: "Marille" })
  })

  it("falls back from a country to its language", () => {
    const row = { title: { en: "Apricot", de: "Aprikose" }, text_de: "Obst", text_en: "Fruit" }
    const typed: { readonly title: string; readonly text: string } = language(row, "de-AT", "en")
    expect(typed).toEqual({ title: "Aprikose", text: "Obst" })
    expect(language({ de: "Aprikose", "de-AT": "Marille" }, "de-AT", "de")).toBe("Marille")
    expect(language({ "de-AT": "Marille", de: "Aprikose" }, "de", "de-AT")).toBe("Aprikose")
    expect(language({ "de-DE": "Aprikose", en: "Apricot" }, "de-AT", "en")).toBe("Apricot")
  })

  it.each([
    ["de", "de_de"],
    ["de", "DE"],
    ["de-DE", "de_de"],
    ["zh-Hans", "zh_Hans"],
    ["zh-hans", "zh-Hans-CN"],
    ["pt-BR", "pt_br"],
    ["he", "iw"],
    ["he-IL", "iw_IL"]
  ])("finds %s by %s, in an object and behind a name", (code, written) => {
    const row = { title: { [written]: "right", en: "other" }, text_en: "other", [`text_${written}`]: "right" }
    expect(language<unknown, string>(row, code, "en")).toEqual({ title: "right", text: "right" })
  })

  it("falls back to the only language that it has", () => {
    const rows = [{ title: { fr: "Cloche" } }, { title: { en: "Bell" } }]
    expect(language(rows, "de", "en")).toEqual([{ title: "Cloche" }, { title: "Bell" }])
    expect(language({ title: { _type: "localeString", it: "Campana" } }, "de")).toEqual({ title: "Campana" })
    const others = { place: { lat: 1, lng: 2 }, photo: { alt: "A bell", src: "bell.jpg" }, count: { no: 1 } }
    expect(language(others, "de")).toEqual(others)
    expect(language([{ _key: "a1", value: "x" }], "de")).toEqual([{ _key: "a1", value: "x" }])
  })

  it("is not an object with several names of two letters of which none is requested", () => {
    const row = { hours: { mo: "10-18", di: "10-18", so: "zu" }, size: { cm: "12", in: "4.7" } }
    expect(language(row, "de", "en")).toEqual(row)
  })

  it("ends if a value contains itself", () => {
    const room: Record<string, unknown> = { name_de: "Saal" }
    room.objects = [
      { title_de: "Glocke", room },
      { title_de: "Linse", room }
    ]
    expect(language<unknown, "de">(room, "de")).toEqual({
      name: "Saal",
      objects: [
        { title: "Glocke", room },
        { title: "Linse", room }
      ]
    })
  })

  it("is not a row with an id, and not a list of parts with a key", () => {
    const label = { id: "start", de: "Los", en: "Go" }
    expect(language([label], "de")).toEqual([label])
    const blocks = [
      { _type: "block", _key: "a1", children: [{ _key: "b2", text: "It rings.", marks: ["strong"] }] }
    ]
    expect(language({ blocks }, "de")).toEqual({ blocks })
  })
})

it("values without languages are not changed", () => {
  // Names that no language has: those end in one letter behind a low line, or have capitals.
  const { tree } = FastCheck.letrec<{ readonly tree: unknown }>((tie) => ({
    tree: FastCheck.oneof(
      { maxDepth: 4 },
      FastCheck.jsonValue({ maxDepth: 0 }),
      FastCheck.array(tie("tree"), { maxLength: 3 }),
      FastCheck.dictionary(
        FastCheck.constantFrom("A", "Title", "_key", "a_b", "__proto__", "xx_YY"),
        tie("tree")
      )
    )
  }))
  FastCheck.assert(
    FastCheck.property(tree, (value) => {
      expect(JSON.stringify(language(value, "de", "en"))).toBe(JSON.stringify(value))
    })
  )
})

it("the order of the fields does not matter", () => {
  const codes = ["de", "en", "fr"]
  const texts = FastCheck.dictionary(FastCheck.constantFrom(...codes), FastCheck.constantFrom("", "x", "y"))
  FastCheck.assert(
    FastCheck.property(texts, FastCheck.shuffledSubarray(codes, { minLength: 1 }), (texts, wanted) => {
      const row = Object.fromEntries(Object.entries(texts).map(([code, text]) => [`title_${code}`, text]))
      const given: Readonly<Record<string, unknown>> = language({ id: "1", ...row }, ...wanted)
      const expected = wanted.map((code) => texts[code]).find((text) => text !== undefined && text !== "")
      expect(given.title || undefined).toBe(expected)
    })
  )
})

it("a field may have the name of a member of every object", () => {
  for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty"]) {
    const given: unknown = language({ id: "1", ...JSON.parse(`{"${name}_de":"Glocke"}`) }, "en", "de")
    expect(JSON.stringify(given)).toBe(`{"id":"1","${name}":"Glocke"}`)
    expect(Object.entries(Object(given))).toEqual([
      ["id", "1"],
      [name, "Glocke"]
    ])
  }
})
