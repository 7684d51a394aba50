/**
 * What is written in the files of the page. `test/whole/dashboard.test.ts` opens it.
 */
import { describe, expect, it } from "@effect/vitest"
import { read } from "../../support/documents.ts"

const css = read("src/layers/dashboard/page/dashboard.css")

/** The colours of a scheme, by their names. */
const coloursOf = (block: string) =>
  new Map(
    [...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name = "", colour = ""]) => [name, colour])
  )

const [light = "", dark = ""] = css.split("prefers-color-scheme: dark")

const luminance = (colour: string) => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((start) => Number.parseInt(colour.slice(start, start + 2), 16) / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** That of WCAG 2. */
const contrast = (one: string, other: string) => {
  const [brighter = 0, darker = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
  return (brighter + 0.05) / (darker + 0.05)
}

describe.each([
  ["light", coloursOf(light)],
  ["dark", coloursOf(dark)]
])("the %s colours of the page", (_, colours) => {
  const pairs = ["paper", "card", "warn-card", "error-card"].flatMap((ground) =>
    ["ink", "muted", "ok", "warn", "held", "error"].map((text) => [text, ground] as const)
  )

  it("have enough contrast on all backgrounds", () => {
    const weak = pairs
      .map(([text, ground]) => ({
        text,
        ground,
        contrast: contrast(colours.get(text) ?? "#000000", colours.get(ground) ?? "#000000")
      }))
      .filter(({ contrast }) => contrast < 4.5)
    expect(weak).toEqual([])
  })
})

describe("the page", () => {
  it("has no animations", () => expect(css).not.toMatch(/animation|transition|@keyframes/))

  it("loads nothing from other servers", () => expect(css).not.toMatch(/url\("(?!\w+\.woff2")/))
})
