/**
 * Reading media in entries.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Option from "effect/Option"
import { mapObjects } from "../../../../src/layers/documents/jsonValues.ts"
import { readFile, strapi } from "../../../../src/layers/sources/strapi/strapiSource.ts"

const media = {
  id: 1,
  documentId: "abc",
  name: "bell.jpg",
  url: "/uploads/bell_0b6d3a5cdb.jpg",
  mime: "image/jpeg",
  size: 12.34,
  updatedAt: "2026-01-02T03:04:05.678Z",
  focalPoint: { x: 70, y: 30 },
  formats: { thumbnail: { url: "/uploads/thumbnail_bell.jpg", mime: "image/jpeg" } }
}

describe("readFile", () => {
  it("returns the URL, the name, the version, and the focal point as fractions", () => {
    expect(readFile(media)).toEqual(
      Option.some({
        url: "/uploads/bell_0b6d3a5cdb.jpg",
        name: "bell.jpg",
        version: "abc 2026-01-02T03:04:05.678Z 12.34",
        focus: { x: 0.7, y: 0.3 }
      })
    )
  })

  it("returns no version if a populate does not include the date or the size", () => {
    const { size: _, ...others } = media
    expect(Option.map(readFile(others), ({ version }) => version === undefined)).toEqual(Option.some(true))
  })

  it("returns no version for a copy in a rich text, which is not updated with its file", () => {
    const { documentId: _, ...copy } = { ...media, hash: "bell_0b6d3a5cdb" }
    expect(Option.map(readFile(copy), ({ url, version }) => [url, version])).toEqual(
      Option.some([media.url, undefined])
    )
  })

  it("returns no focal point if it is null or outside of the picture", () => {
    for (const focalPoint of [null, { x: 70 }, { x: 101, y: 0 }]) {
      expect(Option.map(readFile({ ...media, focalPoint }), ({ focus }) => focus === undefined)).toEqual(
        Option.some(true)
      )
    }
  })

  it("returns nothing for an entry that has a link", () => {
    expect(readFile({ documentId: "abc", url: "https://museum.example/", label: "Visit us" })).toEqual(
      Option.none()
    )
  })
})

describe("a saved entry", () => {
  it("has no smaller pictures at any depth, and keeps any other field of that name", () => {
    const { formats: _, ...original } = media
    const entry = { formats: ["oil", "ink"], body: [{ file: media }] }
    expect(mapObjects(entry, (object) => strapi.saved(object, ""))).toEqual({
      formats: ["oil", "ink"],
      body: [{ file: original }]
    })
  })
})
