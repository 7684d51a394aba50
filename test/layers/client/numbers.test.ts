import { afterEach, expect, it, vi } from "@effect/vitest"
import { numberOf, withNumbers } from "../../../src/layers/client/Options.ts"

const load = () => {}

afterEach(() => {
  vi.restoreAllMocks()
})

it.each([Number.NaN, -1, 0, 99, "5000", null, {}])(
  "%o is an invalid number: the default is used, with a warning",
  (value) => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {})
    expect(numberOf("pollEvery", value, 5000, 100)).toBe(5000)
    expect(warn.mock.calls).toEqual([[`pollEvery is 5000: ${value} is no number from 100 on`]])
  }
)

it("numeric options may be 0 and Infinity", () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {})
  expect(withNumbers({ load, keepBytes: 0, maxDefer: 0, pollEvery: Number.POSITIVE_INFINITY })).toEqual({
    load,
    keepBytes: 0,
    maxDefer: 0,
    pollEvery: Number.POSITIVE_INFINITY
  })
  expect(withNumbers({ load })).toEqual({
    load,
    keepBytes: 67_108_864,
    maxDefer: 300_000,
    pollEvery: 5000
  })
  expect(warn).not.toHaveBeenCalled()
  expect(withNumbers({ load, maxDefer: Number.NaN }).maxDefer).toBe(300_000)
  expect(warn).toHaveBeenCalledOnce()
})
