/**
 * Reading files in items.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Option from "effect/Option"
import { mapObjects } from "../../../../src/layers/documents/jsonValues.ts"
import { directus, readFile } from "../../../../src/layers/sources/directus/directusSource.ts"

const id = "d9bd4bcd-5a97-42ad-af27-97d5a676e5ce"

const file = {
  id,
  filename_download: "bell.jpg",
  modified_on: "2026-11-23T22:21:04",
  filesize: 659,
  width: 320,
  height: 200,
  focal_point_x: 240,
  focal_point_y: 50
}

const server = "https://cms.example"
const read = readFile(server)

describe("readFile", () => {
  it("returns the URL, the name, the size, the version, and the focal point as fractions", () => {
    expect(read(file)).toEqual(
      Option.some({
        url: `https://cms.example/assets/${id}`,
        name: "bell.jpg",
        size: 659,
        version: `${id} 2026-11-23T22:21:04 659`,
        focus: { x: 0.75, y: 0.25 }
      })
    )
  })

  it("reads a size that is a text, as PostgreSQL gives it", () => {
    expect(read({ ...file, filesize: "659" })).toEqual(read(file))
  })

  it("returns no version if the fields do not include the date or the size", () => {
    const { filesize: _, ...withoutSize } = file
    const { modified_on: __, ...withoutDate } = file
    expect(Option.map(read(withoutSize), ({ version }) => version === undefined)).toEqual(Option.some(true))
    expect(Option.map(read(withoutDate), ({ version }) => version === undefined)).toEqual(Option.some(true))
  })

  it("returns no focal point if it is missing or outside of the picture", () => {
    for (const more of [{ focal_point_x: null }, { focal_point_y: 201 }, { width: null }, { height: 0 }]) {
      expect(Option.map(read({ ...file, ...more }), ({ focus }) => focus === undefined)).toEqual(
        Option.some(true)
      )
    }
  })

  it("returns nothing for other objects", () => {
    expect(read({ id, title: "An item" })).toEqual(Option.none())
    expect(read({ ...file, id: "../users/me" })).toEqual(Option.none())
  })
})

describe("a saved item", () => {
  it("has the URL of files without a URL, at any depth, and is not changed otherwise", () => {
    const item = { id: 1, gallery: [{ directus_files_id: file }], own: { ...file, url: "own" }, text: "a" }
    expect(mapObjects([item], (object) => directus.saved(object, server))).toEqual([
      {
        ...item,
        gallery: [{ directus_files_id: { ...file, url: `https://cms.example/assets/${id}` } }]
      }
    ])
  })
})
