import { expect, it } from "@effect/vitest"
import { closestName } from "../../src/internal/closestName.ts"

it("is the most similar name, in any case of letters", () => {
  expect(closestName("Titel", ["maker", "title", "TITLE_DE"], 1 / 2)).toBe("title")
})

it("is no name that differs in more than the share of its characters", () => {
  expect(closestName("photos/bell.jpg", ["photos/lighthouse.jpg", "films/bell.mp4"], 1 / 4)).toBeUndefined()
})

it("tells long paths apart by their ends", () => {
  const folder = "x".repeat(300)
  const paths = ["a.jpg", "bell.jpg", "net.jpg"].map((file) => `${folder}/${file}`)
  expect(closestName(`${folder}/bel.jpg`, paths, 1 / 4)).toBe(`${folder}/bell.jpg`)
})
