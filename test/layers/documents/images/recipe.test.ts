import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import {
  areaOf,
  isImagePath,
  keyOf,
  maxSide,
  pathOf,
  type Recipe,
  sizesOf
} from "../../../../src/layers/documents/images/recipe.ts"

const side = FastCheck.integer({ min: 1, max: 30_000 })
const picture = FastCheck.record({ width: side, height: side })
/** Nearly all random doubles would be close to zero. */
const fraction = FastCheck.integer({ min: 0, max: 10_000 }).map((part) => part / 10_000)
/** As a document may have it, sensible or not. */
const anyNumber = FastCheck.oneof(fraction, FastCheck.double())
const focus = FastCheck.record({ x: anyNumber, y: anyNumber })
const crop = FastCheck.record({ top: anyNumber, bottom: anyNumber, left: anyNumber, right: anyNumber })
const cut = FastCheck.record({ focus, crop }, { requiredKeys: [] })
const ratio = FastCheck.constantFrom(undefined, 1, 16 / 9, 9 / 16, 2.35, 50)
const widths = FastCheck.array(FastCheck.integer({ min: 1, max: 16_383 }), { minLength: 1, maxLength: 6 })
const formats = FastCheck.constantFrom<Parameters<typeof sizesOf>[1]["formats"]>(
  ["webp"],
  ["avif", "webp", "jpeg"],
  ["png"]
)

describe("the area of a picture", () => {
  it.prop("lies in the picture, in whole pixels", [picture, cut, ratio], ([picture, cut, ratio]) => {
    const { height, left, top, width } = areaOf(picture, cut, ratio)
    expect([left, top, width, height].every(Number.isInteger)).toBe(true)
    expect(Math.min(left, top)).toBeGreaterThanOrEqual(0)
    expect(Math.min(width, height)).toBeGreaterThanOrEqual(1)
    expect(left + width).toBeLessThanOrEqual(picture.width)
    expect(top + height).toBeLessThanOrEqual(picture.height)
  })

  it.prop(
    "is the whole picture if nothing is cropped, with any focal point",
    [picture, focus],
    ([picture, focus]) => {
      expect(areaOf(picture, { focus }, undefined)).toEqual({ left: 0, top: 0, ...picture })
    }
  )

  it.prop(
    "has the aspect ratio to the pixel, and is as large as the picture allows",
    [picture, cut, FastCheck.constantFrom(1, 16 / 9, 9 / 16)],
    ([picture, cut, ratio]) => {
      const around = areaOf(picture, cut, undefined)
      const { height, width } = areaOf(picture, cut, ratio)
      expect(
        Math.min(Math.abs(width - height * ratio), Math.abs(height - width / ratio))
      ).toBeLessThanOrEqual(1)
      expect(width === around.width || height === around.height).toBe(true)
    }
  )

  it.prop(
    "has the focal point in its middle, or touches the nearer edge",
    [picture, FastCheck.record({ x: fraction, y: fraction }), FastCheck.constantFrom(1, 16 / 9)],
    ([picture, focus, ratio]) => {
      const { left, width } = areaOf(picture, { focus }, ratio)
      const isCentred = Math.abs(left + width / 2 - focus.x * picture.width) <= 1
      const isAtSide = focus.x < 0.5 ? left === 0 : left + width === picture.width
      expect(isCentred || isAtSide || width === picture.width).toBe(true)
    }
  )

  it("is the same that Sanity's own URL builder asks for", () => {
    const picture = { width: 2000, height: 1000 }
    const cut = { focus: { x: 0.7, y: 0.5 }, crop: { top: 0, bottom: 0, left: 0.1, right: 0.1 } }
    expect(areaOf(picture, cut, undefined)).toEqual({ left: 200, top: 0, width: 1600, height: 1000 })
    expect(areaOf(picture, cut, 1)).toEqual({ left: 800, top: 0, width: 1000, height: 1000 })
  })

  it("is the whole picture if cropping would leave nothing", () => {
    const crop = { top: 0, bottom: 0, left: 0.6, right: 0.6 }
    expect(areaOf({ width: 100, height: 50 }, { crop }, undefined)).toEqual({
      left: 0,
      top: 0,
      width: 100,
      height: 50
    })
  })
})

describe("the sizes of a picture", () => {
  it.prop(
    "never enlarge the picture, and contain no size twice",
    [picture, widths, formats],
    ([area, widths, formats]) => {
      const sizes = sizesOf(area, { widths, formats })
      for (const { height, width } of sizes) {
        expect(width).toBeLessThanOrEqual(Math.min(area.width, Math.max(...widths), maxSide))
        expect(height).toBeLessThanOrEqual(Math.min(area.height, maxSide))
        expect(Math.min(width, height)).toBeGreaterThanOrEqual(1)
      }
      expect(new Set(sizes.map((size) => JSON.stringify(size))).size).toBe(sizes.length)
      expect([...new Set(sizes.map(({ format }) => format))]).toEqual(formats)
    }
  )

  it.prop("keep the aspect ratio to the pixel", [picture, widths], ([area, widths]) => {
    for (const { height, width } of sizesOf(area, { widths, formats: ["webp"] })) {
      const exact = (area.height * width) / area.width
      expect(Math.abs(height - Math.min(maxSide, Math.max(1, exact)))).toBeLessThanOrEqual(0.5)
    }
  })

  it.prop("have the widths of the options if the picture is large enough", [widths], ([widths]) => {
    const sizes = sizesOf({ width: maxSide, height: 10_000 }, { widths, formats: ["webp"] })
    expect(sizes.map(({ width }) => width)).toEqual([...new Set(widths)].sort((a, b) => a - b))
  })

  it("end with the picture's own width if an option is wider", () => {
    const widthsOf = (width: number) =>
      sizesOf({ width, height: 700 }, { widths: [1920, 640, 1280], formats: ["webp"] }).map(
        (size) => size.width
      )
    expect(widthsOf(1000)).toEqual([640, 1000])
    expect(widthsOf(300)).toEqual([300])
  })

  it("are not higher than the format allows", () => {
    expect(sizesOf({ width: 1000, height: 40_000 }, { widths: [640], formats: ["webp"] })).toEqual([
      { width: 409, height: 16_360, format: "webp" }
    ])
  })
})

const digits = FastCheck.constantFrom("a".repeat(64), "b".repeat(64))
const recipe: FastCheck.Arbitrary<Recipe> = FastCheck.record(
  {
    sha256: digits,
    area: FastCheck.record({
      left: FastCheck.integer({ min: 0, max: 2 }),
      top: FastCheck.integer({ min: 0, max: 2 }),
      width: FastCheck.integer({ min: 1, max: 3 }),
      height: FastCheck.integer({ min: 1, max: 3 })
    }),
    quality: FastCheck.integer({ min: 1, max: 3 }),
    versions: FastCheck.constantFrom({ sharp: "1", vips: "2" }, { sharp: "1", vips: "3" })
  },
  { requiredKeys: ["sha256", "area", "versions"] }
)

describe("the key of a recipe", () => {
  it.prop(
    "is the same if and only if the recipe is the same",
    [recipe, recipe, FastCheck.constantFrom<keyof Recipe>("sha256", "area", "quality", "versions")],
    ([one, other, part]) => {
      const changed = { ...one, [part]: other[part] }
      const canonical = ({ area, quality, sha256, versions }: Recipe) =>
        JSON.stringify([sha256, area.left, area.top, area.width, area.height, quality ?? 0, versions.vips])
      expect(keyOf(one) === keyOf(changed)).toBe(canonical(one) === canonical(changed))
      expect(keyOf(one)).toMatch(/^[0-9a-f]{16}$/)
    }
  )

  it.each(["left", "top", "width", "height"])("changes with the %s of the area", (side) => {
    const area = { left: 1, top: 1, width: 1, height: 1 }
    const recipe = { sha256: "a".repeat(64), versions: {} }
    expect(keyOf({ ...recipe, area })).not.toBe(keyOf({ ...recipe, area: { ...area, [side]: 2 } }))
  })

  it("does not depend on the order of versions", () => {
    const recipe = { sha256: "a".repeat(64), area: { left: 0, top: 0, width: 1, height: 1 } }
    expect(keyOf({ ...recipe, versions: { sharp: "1", vips: "2" } })).toBe(
      keyOf({ ...recipe, versions: { vips: "2", sharp: "1" } })
    )
  })
})

describe("the path of a size", () => {
  it.each([
    ["jpeg", "images/0123456789abcdef-640.jpg"],
    ["webp", "images/0123456789abcdef-640.webp"]
  ] as const)("consists of the key, the width and the extension: %s", (format, path) => {
    expect(pathOf("0123456789abcdef", { width: 640, height: 480, format })).toBe(path)
    expect(isImagePath(path)).toBe(true)
  })
})
