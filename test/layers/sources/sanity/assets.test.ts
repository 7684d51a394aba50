import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Option from "effect/Option"
import type { JsonObject } from "../../../../src/layers/documents/jsonValues.ts"
import { assetUrl, readAsset, withAssetUrls } from "../../../../src/layers/sources/sanity/sanitySource.ts"
import { textsOf } from "../../../support/warnings.ts"

const place = { projectId: "zp7mbokg", dataset: "production" }
const textOf = (characters: string, minLength: number) =>
  FastCheck.array(FastCheck.constantFrom(...characters), { minLength, maxLength: 40 }).map((all) =>
    all.join("")
  )
const letters = "abcdefghijklmnopqrstuvwxyz"
/** Digests of old assets, and ids of new ones. */
const digest = FastCheck.oneof(
  textOf("0123456789abcdef", 40),
  textOf(`0123456789_${letters}${letters.toUpperCase()}`, 24)
)
const extension = FastCheck.constantFrom("jpg", "png", "svg", "gif", "webp", "mp4", "pdf", "m4a")
const side = FastCheck.integer({ min: 1, max: 20_000 })

const vase = "image-G3i4emG6B8JnTmGoN0UjgAp8-300x450-jpg"

const readAt = (object: JsonObject) => readAsset(place)(object, { document: "a", path: [], parents: [] })

describe("references to assets", () => {
  it.prop(
    "have the URL of a picture with the same digest, size and extension",
    [digest, side, side, extension],
    ([sha1, w, h, ext]) => {
      expect(assetUrl(`image-${sha1}-${w}x${h}-${ext}`, place)).toEqual(
        Option.some(`https://cdn.sanity.io/images/zp7mbokg/production/${sha1}-${w}x${h}.${ext}`)
      )
    }
  )

  it.prop("have the URL of a file with the same digest and extension", [digest, extension], ([sha1, ext]) => {
    expect(assetUrl(`file-${sha1}-${ext}`, place)).toEqual(
      Option.some(`https://cdn.sanity.io/files/zp7mbokg/production/${sha1}.${ext}`)
    )
  })

  it.prop("have no URL if they are not an asset id of Sanity", [FastCheck.string()], ([text]) => {
    for (const id of [text, `image-${text}-1x1-jpg`, `file-${text}`, `image-${"a".repeat(40)}-${text}`]) {
      for (const url of Option.toArray(assetUrl(id, place))) {
        expect(url).toMatch(/^https:\/\/cdn\.sanity\.io\/(images|files)\/zp7mbokg\/production\/[\w.-]+$/)
      }
    }
  })

  it.prop("get a URL beside them, with no other change", [FastCheck.jsonValue()], ([value]) => {
    expect(withAssetUrls(value, place).value).toEqual(value)
    const picture = { _type: "image", asset: { _type: "reference", _ref: vase }, more: value }
    const once = withAssetUrls([{ picture }], place).value
    expect(once).toEqual([{ picture: { ...picture, url: Option.getOrThrow(assetUrl(vase, place)) } }])
    expect(withAssetUrls(once, place).value).toEqual(once)
  })

  it("keep a URL that editors have written", () => {
    const linked = { asset: { _ref: vase }, url: "https://museum.example" }
    expect(withAssetUrls(linked, place)).toEqual({ value: linked, warnings: [] })
  })

  it("are read with the focal point and the crop of a picture", () => {
    const url = Option.getOrThrow(assetUrl(vase, place))
    expect(
      readAt({
        _type: "image",
        asset: { _ref: vase },
        hotspot: { x: 0.7, y: 0.5, width: 0.2, height: 0.2 },
        crop: { top: 0, bottom: 0, left: 0.1, right: 0.1 }
      })
    ).toEqual(
      Option.some({
        url,
        version: vase,
        focus: { x: 0.7, y: 0.5 },
        crop: { top: 0, bottom: 0, left: 0.1, right: 0.1 }
      })
    )
    expect(readAt({ asset: { _ref: vase }, hotspot: { x: "0", y: 2 }, crop: { top: 1, bottom: 1 } })).toEqual(
      Option.some({ url, version: vase })
    )
    expect(readAt({ asset: { _ref: "someone" } })).toEqual(Option.none())
  })

  it("may be resolved by the query itself", () => {
    const url = Option.getOrThrow(assetUrl(vase, place))
    expect(readAt({ _id: vase, url, originalFilename: "vase.jpg", size: 1234 })).toEqual(
      Option.some({ url, version: vase, name: "vase.jpg", size: 1234 })
    )
  })

  it("have the crop and the focal point of the object around the asset that a query follows", () => {
    const asset = { _id: vase, url: Option.getOrThrow(assetUrl(vase, place)) }
    const hotspot = { x: 0.7, y: 0.5, width: 0.2, height: 0.2 }
    const crop = { top: 0, bottom: 0, left: 0.1, right: 0.1 }
    const expected = { url: asset.url, version: vase, focus: { x: 0.7, y: 0.5 }, crop }
    const around = { _type: "image", asset, hotspot, crop }
    expect(
      readAsset(place)(asset, { document: "a", path: ["cover", "asset"], parents: [{}, around] })
    ).toEqual(Option.some(expected))
    expect(readAt(around)).toEqual(Option.none())
    expect(readAt({ ...asset, hotspot, crop })).toEqual(Option.some(expected))
  })

  it("are a warning if they lead to no picture or file of Sanity", () => {
    const clip = { _type: "mux.video", asset: { _type: "reference", _ref: "0b5f6b3e-6d2a" } }
    const short = { _type: "image", asset: { _ref: `image-${"a".repeat(23)}-1x1-jpg` } }
    expect(
      textsOf(withAssetUrls([{ clip, short, cover: { asset: { _ref: vase } } }], place).warnings)
    ).toEqual([
      '2 references in "asset" to no picture or file of Sanity, "0b5f6b3e-6d2a" first: nothing is downloaded for it. Query what it refers to, such as a video at another service, with its link'
    ])
  })
})
