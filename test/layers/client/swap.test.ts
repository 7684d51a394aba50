import { afterEach, beforeEach, describe, expect, it, vi } from "@effect/vitest"
import { makeSwap } from "../../../src/layers/client/swap.ts"

const second = 1000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] })
  // A list of files that is missing is no problem; to wait for it takes real time.
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("There is no server")))
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const idOf = (number: number) => `20261121T${String(number).padStart(6, "0")}Z`

/** A screen on which a version takes three seconds to load, and what it has shown when, in seconds. */
const makeScreen = (options: { readonly canSwap?: () => boolean; readonly maxDefer?: number } = {}) => {
  const shown: Array<readonly [number: number, at: number]> = []
  const start = performance.now()
  const swap = makeSwap({
    content: "http://127.0.0.1",
    maxDefer: 300 * second,
    changed: () => {},
    load: async ({ id }) => {
      await new Promise((resolve) => setTimeout(resolve, 3 * second))
      return Number(id.slice(9, 15))
    },
    show: (number) => shown.push([number, Math.round((performance.now() - start) / second)]),
    ...options
  })
  const promote = (number: number, filesSha256?: string) => {
    const versionId = idOf(number)
    swap.follow({
      schemaVersion: 1,
      versionId,
      versionPath: `versions/${versionId}`,
      filesSha256,
      sources: []
    })
  }
  return { end: swap.end, promote, shown }
}

const wait = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * second)

it("shows other content that has the id of a version before, as after a restart without a clock", async () => {
  const { promote, shown } = makeScreen()
  for (const filesSha256 of ["a", "a", "b"]) {
    promote(1, filesSha256)
    await wait(4)
  }
  expect(shown).toEqual([
    [1, 3],
    [1, 11]
  ])
})

it("loads and shows nothing after its end", async () => {
  const { end, promote, shown } = makeScreen()
  promote(1)
  await wait(4)
  end()
  promote(2)
  await wait(4)
  expect(shown).toEqual([[1, 3]])
})

describe("a screen whose versions come faster than they load", () => {
  it("shows a version at least every ten seconds and the time of a load, and the newest at the end", async () => {
    const { promote, shown } = makeScreen()
    for (let number = 1; number <= 60; number++) {
      promote(number)
      await wait(1)
    }
    await wait(6)
    const times = [0, ...shown.map(([, at]) => at)]
    expect(Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? 0)))).toBeLessThanOrEqual(14)
    const numbers = shown.map(([number]) => number)
    expect(numbers).toEqual(numbers.toSorted((one, other) => one - other))
    expect(numbers.at(-1)).toBe(60)
  })

  it("does not show a version that was rolled back", async () => {
    const { promote, shown } = makeScreen()
    promote(1)
    await wait(4)
    for (let number = 2; number <= 13; number++) {
      promote(number)
      await wait(1)
    }
    // Number 12 is loading, and would be shown before 13.
    promote(0)
    await wait(10)
    expect(shown.map(([number]) => number)).toEqual([1, 0])
  })

  it("loads and shows nothing after its end", async () => {
    const { end, promote, shown } = makeScreen()
    promote(1)
    await wait(4)
    for (let number = 2; number <= 13; number++) {
      promote(number)
      await wait(1)
    }
    // Number 13 waits until 12 has loaded.
    end()
    await wait(10)
    expect(shown.map(([number]) => number)).toEqual([1])
  })

  it("waits for canSwap at most maxDefer, however many versions come", async () => {
    const { promote, shown } = makeScreen({ canSwap: () => false, maxDefer: 60 * second })
    for (let number = 1; number <= 200; number++) {
      promote(number)
      await wait(1)
    }
    const times = shown.map(([, at]) => at)
    expect(times.length).toBeGreaterThanOrEqual(3)
    expect(Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? 0)))).toBeLessThanOrEqual(67)
  })
})
