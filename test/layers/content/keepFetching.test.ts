import { describe, expect, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import { pauseAfter } from "../../../src/layers/content/keepFetching.ts"

const seconds = (failures: number, fetchEvery?: Duration.DurationInput) =>
  Option.getOrUndefined(Option.map(pauseAfter(failures, Option.fromNullable(fetchEvery)), Duration.toSeconds))

describe("the pause after a fetch", () => {
  it("is that of the configuration where it did not fail, or for good", () => {
    expect(seconds(0, "7 hours")).toBe(25_200)
    expect(seconds(0)).toBeUndefined()
  })

  it("doubles from a quarter of a minute to five where there is none in the configuration", () => {
    expect([1, 2, 3, 4, 5, 6, 7].map((failures) => seconds(failures))).toEqual([
      15, 30, 60, 120, 240, 300, 300
    ])
    expect(seconds(5000)).toBe(300)
  })

  it("is never longer than that of the configuration", () => {
    expect([1, 2, 3, 4].map((failures) => seconds(failures, "50 seconds"))).toEqual([15, 30, 50, 50])
    expect([1, 2].map((failures) => seconds(failures, "1 second"))).toEqual([1, 1])
    expect([9, 10, 11, 12].map((failures) => seconds(failures, "2 hours"))).toEqual([3840, 7200, 7200, 7200])
  })
})
