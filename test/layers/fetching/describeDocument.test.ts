import { describe, expect, it } from "@effect/vitest"
import { describeDocument } from "../../../src/layers/fetching/checkSources.ts"

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
