import { afterEach, beforeEach, expect, it, vi } from "@effect/vitest"
import { idle } from "../../../../src/layers/client/helpers/idle.ts"

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal("window", { setTimeout })
  vi.stubGlobal("addEventListener", vi.fn())
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

it.each([
  [60_000, 1],
  [2 ** 31, 0],
  [Number.POSITIVE_INFINITY, 0]
])("after %d ms without input, begin is called once, or never if no timer is that long", (ms, count) => {
  const begin = vi.fn()
  const end = idle(ms, { begin, end: vi.fn() })
  vi.advanceTimersByTime(61_000)
  expect(begin).toHaveBeenCalledTimes(count)
  end()
})

it.each([0, -1, Number.NaN])("%d ms are invalid: a warning, and begin is never called", (ms) => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {})
  const begin = vi.fn()
  const end = idle(ms, { begin, end: vi.fn() })
  vi.advanceTimersByTime(61_000)
  expect(begin).not.toHaveBeenCalled()
  expect(warn).toHaveBeenCalledOnce()
  warn.mockRestore()
  end()
})
