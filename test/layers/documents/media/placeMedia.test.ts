import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { makeSearch } from "../../../../src/layers/documents/media/findMedia.ts"
import { keyOf, rulesOf } from "../../../../src/layers/documents/media/links.ts"
import type { MediaOptions } from "../../../../src/layers/documents/media/MediaOptions.ts"
import { fieldOf, format } from "../../../../src/layers/documents/media/PathPattern.ts"
import {
  type FoundLink,
  type MediaReader,
  makePlacing
} from "../../../../src/layers/documents/media/placeMedia.ts"
import { atOnce } from "../../../support/atOnce.ts"

const base = "https://cms.example/api/objects"

const pathOf = ({ identity }: Pick<FoundLink, "identity">) => `media/file-${keyOf(identity)}.jpg`

/** The changed document, with the found links and the links without a file. */
const placing = (options: Partial<MediaOptions>, reader?: MediaReader) => {
  const change = makePlacing({
    rules: rulesOf(options),
    base,
    document: "objects.json",
    reader
  })
  return (value: unknown, isThere: (identity: string) => boolean = () => true) => {
    const found: Array<string> = []
    const leftOut: Array<string> = []
    const { saved: changed } = atOnce(
      change(value, [], {
        place: (link) => {
          if (link.ownPath !== undefined) return undefined
          expect(fieldOf(link.trail)).toBe(format(link.path))
          found.push(format(link.path))
          return isThere(link.identity) ? { localPath: pathOf(link) } : undefined
        },
        leftOut: (trail) => leftOut.push(fieldOf(trail))
      })
    )
    return { changed, found, leftOut }
  }
}

const a = "https://cdn.example/a.jpg"
const b = "https://cdn.example/b.jpg"
const localA = pathOf({ identity: a })
const localB = pathOf({ identity: b })

describe("links in documents", () => {
  it.each([
    ["by pattern", { find: ["**.image.url"] }, { image: { url: "/a" }, url: "/b" }, ["image.url"]],
    ["by host", { hosts: ["cdn.example"] }, { x: a, y: { z: "https://a.example/b.jpg" } }, ["x"]],
    ["by type", { types: ["image/*"] }, { x: { u: a }, y: { u: "https://a.example/b.mp4" } }, ["x.u"]],
    ["by all that is given", { hosts: ["cdn.example"], types: ["video/mp4"] }, { x: { u: a } }, []],
    [
      "by pattern and host",
      { find: ["*"], hosts: ["cdn.example"] },
      { x: a, y: "https://a.example/b.jpg" },
      ["x"]
    ],
    ["with a type that the answer says", { find: ["*"], types: ["image/*"] }, { x: "/asset/1" }, ["x"]],
    ["relative with a type", { types: ["image/*"] }, { x: "/a.jpg", y: { z: "a.jpg" } }, ["x"]],
    ["no text", { hosts: ["cdn.example"] }, { x: `see ${a}` }, []],
    ["nothing else", { find: ["**"] }, { x: "data:image/png;base64,AA", y: "", z: 1, w: null }, []]
  ])("are found: %s", (_, options, document, expected) => {
    expect(placing(options)(document).found).toEqual(expected)
  })

  it("get localPath beside the field url, or beside the first field by name", () => {
    const { changed, leftOut } = placing({ types: ["image/*"] })([
      { id: 1, a: b, name: "x", url: a },
      { z: b, b: a, zz: { url: b } }
    ])
    expect(changed).toEqual([
      { id: 1, a: b, localPath: localA, name: "x", url: a },
      { b: a, localPath: localA, z: b, zz: { url: b, localPath: localB } }
    ])
    expect(leftOut).toEqual(["0.a", "1.z"])
    expect(JSON.stringify(changed)).toContain(`"a":"${b}","localPath":"${localA}","name":"x","url"`)
  })

  it("are replaced by objects if the option says so", () => {
    const document = { cover: a, gallery: [a, b], media: { url: b } }
    expect(placing({ types: ["image/*"], replace: true })(document).changed).toEqual({
      cover: { url: a, localPath: localA },
      gallery: [
        { url: a, localPath: localA },
        { url: b, localPath: localB }
      ],
      media: { url: b, localPath: localB }
    })
    expect(placing({ types: ["image/*"], replace: ["gallery.*"] })(document)).toMatchObject({
      changed: { cover: a, localPath: localA, gallery: [{ url: a }, { url: b }] },
      leftOut: []
    })
    expect(placing({ types: ["image/*"] })(document)).toMatchObject({
      changed: { gallery: [a, b] },
      leftOut: ["gallery.0", "gallery.1"]
    })
  })

  it("stay in an object that has only a url, even if links are replaced", () => {
    const document = { image: { url: a } }
    const place = placing({ find: ["**.url"], replace: true })
    const { changed } = place(document)
    expect(changed).toEqual({ image: { url: a, localPath: localA } })
    expect(place(changed).changed).toEqual(changed)
  })

  it("are found by the function of a vendor, too", () => {
    const reader: MediaReader = (value) =>
      Predicate.isString(value.file) ? Option.some({ url: value.file, version: "1" }) : Option.none()
    const { changed, found } = placing({}, reader)({ cover: { file: "/a", thumb: { src: a } }, url: b })
    expect(found).toEqual(["cover"])
    expect(changed).toEqual({
      cover: {
        file: "/a",
        localPath: pathOf({ identity: "https://cms.example/a" }),
        thumb: { src: a }
      },
      url: b
    })
  })

  it("are read with the objects around them", () => {
    const around: Array<unknown> = []
    placing({}, (_, { parents, path }) => {
      around.push([format(path), [...parents]])
      return Option.none()
    })({ cover: { asset: {} }, more: [{}] })
    const cover = { asset: {} }
    const document = { cover, more: [{}] }
    expect(around).toEqual([
      ["", []],
      ["cover", [document]],
      ["cover.asset", [document, cover]],
      ["more.0", [document]]
    ])
  })

  it("have their paths beforehand if the vendor fixes them, and the paths may be written or not", () => {
    const reader =
      (writesPath: boolean): MediaReader =>
      ({ file }) =>
        Predicate.isString(file)
          ? Option.some({ url: file, localPath: "attachments/1/a.jpg", writesPath })
          : Option.none()
    for (const writesPath of [true, false]) {
      const { found, look } = makeSearch(
        {
          isWanted: true,
          areLinksSigned: false,
          reader: reader(writesPath),
          rules: rulesOf({}),
          wantsPictures: true
        },
        { document: "objects.json" }
      )
      const { saved } = atOnce(look({ file: "https://a.example/a", title: "A" }, 0))
      expect(saved).toEqual({
        file: "https://a.example/a",
        title: "A",
        ...(writesPath ? { localPath: "attachments/1/a.jpg" } : {})
      })
      expect([...found().files.keys()]).toEqual(["./attachments/1/a.jpg"])
      expect(found().pictures.size).toBe(writesPath ? 1 : 0)
      // The second visit, when the files are there.
      const { changed } = placing({}, reader(writesPath))({ file: "https://a.example/a" })
      expect(Object.keys(Object(changed))).toEqual(writesPath ? ["file", "localPath"] : ["file"])
    }
  })

  it("are saved beside a localPath that somebody else has written, which is kept", () => {
    const document = { photos: [{ url: a, localPath: "attachments/att1/a.jpg" }] }
    expect(placing({ types: ["image/*"] })(document)).toEqual({
      changed: document,
      found: ["photos.0.url"],
      leftOut: []
    })
  })

  it("lose the localPath of an earlier version if the file is gone", () => {
    const document = { x: a, y: [{ url: b }] }
    const place = placing({ types: ["image/*"], replace: ["x"] })
    expect(place(place(document).changed, () => false).changed).toEqual(document)
  })
})

const link = FastCheck.constantFrom(a, b, `${a}?X-Amz-Signature=1`, "/c.jpg", "//cdn.example/d.png", "e.jpg")
const text = FastCheck.oneof(link, FastCheck.string(), FastCheck.webUrl())
const name = FastCheck.oneof(
  FastCheck.constantFrom("url", "image", "gallery", "id", "a", "zz", "__proto__", "7", "a.b"),
  FastCheck.string()
)
const { document } = FastCheck.letrec((tie) => ({
  document: FastCheck.oneof(
    { depthSize: "small", withCrossShrink: true },
    text,
    FastCheck.constantFrom(null, true, 1.5),
    FastCheck.array(tie("document"), { maxLength: 4 }),
    FastCheck.array(FastCheck.tuple(name, tie("document")), { maxLength: 5 }).map(Object.fromEntries)
  )
}))

const options = FastCheck.record({
  find: FastCheck.option(FastCheck.constantFrom(["**"], ["**.url"], ["*.image", "**.gallery.*"]), {
    nil: undefined
  }),
  hosts: FastCheck.option(FastCheck.constant(["cdn.example"]), { nil: undefined }),
  types: FastCheck.option(FastCheck.constant(["image/*"]), { nil: undefined }),
  replace: FastCheck.option(FastCheck.constantFrom(true, ["**"], ["**.image"]), { nil: undefined })
}).map(
  (options): Partial<MediaOptions> =>
    Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
)

/** A document without the written fields. */
const undone = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(undone)
  if (!Predicate.isReadonlyRecord(value)) return value
  const entries = Object.entries(value).filter(([name]) => name !== "localPath")
  return entries.length === 1 && Object.keys(value).length === 2 && "url" in value
    ? value.url
    : Object.fromEntries(entries.map(([name, part]) => [name, undone(part)]))
}

/** A string is equal to an object with only this string as its `url`. */
const unboxed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(unboxed)
  if (!Predicate.isReadonlyRecord(value)) return value
  return Object.keys(value).length === 1 && Predicate.isString(value.url)
    ? value.url
    : Object.fromEntries(Object.entries(value).map(([name, part]) => [name, unboxed(part)]))
}

describe("any document", () => {
  it.prop("keeps everything but its links", [document, options], ([document, options]) => {
    const before = JSON.stringify(document)
    const { changed, found } = placing(options)(document)
    expect(unboxed(undone(changed))).toEqual(unboxed(document))
    expect(JSON.stringify(document)).toBe(before)
    if (found.length === 0) expect(changed).toBe(document)
  })

  it.prop("is the same if links are placed once and twice", [document, options], ([document, options]) => {
    const once = placing(options)(document)
    const twice = placing(options)(once.changed)
    expect(JSON.stringify(twice.changed)).toBe(JSON.stringify(once.changed))
    expect(twice.found).toHaveLength(once.found.length)
  })

  it.prop("is restored if links are placed without files", [document, options], ([document, options]) => {
    const place = placing(options)
    const gone = place(place(document).changed, () => false).changed
    expect(unboxed(gone)).toEqual(unboxed(document))
  })
})
