import { expect, it } from "@effect/vitest"
import { about, growing } from "../../../src/layers/client/request.ts"

it("pauses grow to half a minute, each up to a fifth shorter or longer", () => {
  for (const [failures, mean] of [2000, 4000, 8000, 16_000, 30_000, 30_000].entries()) {
    const pause = growing(failures)
    expect(pause).toBeGreaterThanOrEqual(0.8 * mean)
    expect(pause).toBeLessThanOrEqual(1.2 * mean)
  }
  expect(growing(100_000)).toBeLessThanOrEqual(36_000)
})

it.each([2 ** 31, 30 * 86_400_000, Number.POSITIVE_INFINITY])(
  "a pause of %d ms is limited to the longest timer, and does not end at once",
  (ms) => {
    const pause = about(ms)
    expect(pause).toBeGreaterThan(1_500_000_000)
    expect(pause).toBeLessThan(2 ** 31)
  }
)
