import { afterEach, expect, it, vi } from "@effect/vitest"
import { durationOf, withDurations } from "../../../src/layers/client/durations.ts"

const load = () => {}

afterEach(() => {
  vi.restoreAllMocks()
})

it.each([Number.NaN, -1, 0, 99, "5000", null, {}])(
  "what a page gives as a duration is not %o: another is taken, with a warning",
  (value) => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {})
    expect(durationOf("pollEvery", value, 5000, 100)).toBe(5000)
    expect(warn.mock.calls).toEqual([[`pollEvery is 5000: ${value} is no time from 100 ms on`]])
  }
)

it("durations that a page gives are taken, for ever and no time at all too", () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {})
  expect(withDurations({ load, maxDefer: 0, pollEvery: Number.POSITIVE_INFINITY })).toEqual({
    load,
    maxDefer: 0,
    pollEvery: Number.POSITIVE_INFINITY
  })
  expect(withDurations({ load })).toEqual({ load, maxDefer: 300_000, pollEvery: 5000 })
  expect(warn).not.toHaveBeenCalled()
  expect(withDurations({ load, maxDefer: Number.NaN }).maxDefer).toBe(300_000)
  expect(warn).toHaveBeenCalledOnce()
})
