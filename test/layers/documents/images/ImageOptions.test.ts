import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { decodeOptions } from "../../../../src/internal/Options.ts"
import type { ImageConfig } from "../../../../src/layers/documents/DocumentConfig.ts"
import { aspectRatio, ImageOptions, sharpIssue } from "../../../../src/layers/documents/media/MediaOptions.ts"

const decode = decodeOptions("the options of images", ImageOptions)

describe("the options of images", () => {
  it("are two widths in WebP by default", () => {
    expect(Either.getOrThrow(decode({}))).toEqual({ widths: [640, 1920], formats: ["webp"] })
  })

  it("keep every option that is given", () => {
    const config: Required<ImageConfig> = {
      widths: [320],
      formats: ["avif", "jpeg"],
      quality: 70,
      crop: "16:9"
    }
    const options: ImageOptions = Either.getOrThrow(decode(config))
    expect(options).toEqual(config)
  })

  it("report every mistake with its place", () => {
    const decoded = decode({ widths: [0, 640.5], formats: [], quality: 101, crop: "0:1", width: 1 })
    expect(Either.isLeft(decoded) && decoded.left.issues).toEqual([
      { path: "width", message: expect.stringContaining("no such key") },
      { path: "widths[0]", message: "expected an integer from 1 to 16383 (pixels), got 0" },
      { path: "widths[1]", message: "expected an integer from 1 to 16383 (pixels), got 640.5" },
      { path: "formats", message: "expected 1 to 12 formats, got 0" },
      { path: "quality", message: "expected an integer from 1 to 100, got 101" },
      { path: "crop", message: 'expected an aspect ratio such as "16:9", or "square", got "0:1"' }
    ])
  })

  it.each([
    ["square", 1],
    ["16:9", 16 / 9],
    ["2.35:1", 2.35]
  ])("accept %s as an aspect ratio", (text, ratio) => {
    expect(aspectRatio(text)).toEqual(Option.some(ratio))
  })

  it.each(["", "16/9", "0:0", "1:0", "1:101", "-1:1", "1e3:1", " 1:1"])(
    "do not accept %j as an aspect ratio",
    (text) => {
      expect(aspectRatio(text)).toEqual(Option.none())
    }
  )
})

describe("sharp", () => {
  it("is found if it is installed", () => {
    expect(sharpIssue(import.meta.url)).toBeUndefined()
  })

  it("is named in the message, with its installation, if it is missing", () => {
    expect(sharpIssue(join(tmpdir(), "vitrine-without", "module.js"))).toBe(
      '"images" needs the package sharp: npm install sharp'
    )
    expect(sharpIssue(join(tmpdir(), "vitrine-without", "module.js"), "pictures")).toBe(
      '"pictures" needs the package sharp: npm install sharp'
    )
  })
})
