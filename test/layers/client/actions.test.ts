import { afterEach, beforeEach, describe, expect, it, vi } from "@effect/vitest"
import { act, isReloaded } from "../../../src/layers/client/actions.ts"

const reload = vi.fn()
const warn = vi.fn()
let shown: Array<FakeElement> = []
let answers: () => Promise<unknown> = async () => ({ ok: true })

/** A browser without popovers, unless the test says otherwise. */
class FakeElement {
  dataset: Record<string, string> = {}
  style = { cssText: "" }
  textContent = ""
  remove() {
    shown = shown.filter((element) => element !== this)
  }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout"] })
  reload.mockClear()
  warn.mockClear()
  shown = []
  answers = async () => ({ ok: true })
  vi.spyOn(console, "warn").mockImplementation(warn)
  vi.stubGlobal("location", { href: "http://127.0.0.1:8730/", protocol: "http:", reload })
  vi.stubGlobal("fetch", () => answers())
  vi.stubGlobal("document", {
    createElement: () => new FakeElement(),
    documentElement: { append: (element: FakeElement) => shown.push(element) }
  })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

const settled = () => vi.advanceTimersByTimeAsync(0)

describe("a screen that is asked to identify itself", () => {
  it("shows its label for ten seconds, or else its id", async () => {
    act({ actions: ["identify"], label: "Left wall" }, "left")
    act({ actions: ["identify"] }, "right")
    expect(shown.map(({ textContent }) => textContent)).toEqual(["Left wall", "right"])
    await vi.advanceTimersByTimeAsync(9999)
    expect(shown).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(1)
    expect(shown).toEqual([])
    expect(reload).not.toHaveBeenCalled()
  })

  it("shows a short name large, and a long one in several lines", () => {
    act({ actions: ["identify"] }, "left")
    act({ actions: ["identify"] }, "a".repeat(64))
    expect(shown.map(({ style }) => /700 ([\d.]+vw)/.exec(style.cssText)?.[1])).toEqual(["30vw", "6vw"])
  })
})

describe("a screen that is asked to reload", () => {
  it("reloads its page if the server has it", async () => {
    act({ actions: ["reload"] }, "left")
    await settled()
    expect(reload).toHaveBeenCalledTimes(1)
    expect(shown).toEqual([])
  })

  it.each([
    ["is away", () => Promise.reject(new TypeError("Failed to fetch"))],
    ["has no such page", async () => ({ ok: false })]
  ] as const)("keeps its page if the server %s", async (_, answer) => {
    answers = answer
    act({ actions: ["reload"] }, "left")
    await settled()
    expect(reload).not.toHaveBeenCalled()
  })

  it("reloads a page that is a file without a request for it", async () => {
    vi.stubGlobal("location", { href: "file:///page.html", protocol: "file:", reload })
    answers = () => Promise.reject(new TypeError("Failed to fetch"))
    act({ actions: ["reload"] }, "left")
    await settled()
    expect(reload).toHaveBeenCalledTimes(1)
  })
})

it("an answer without actions, or with unknown ones, changes nothing", async () => {
  act({}, "left")
  act({ actions: ["open", "https://evil.example"] }, "left")
  await settled()
  expect(shown).toEqual([])
  expect(reload).not.toHaveBeenCalled()
})

it("knows that it was loaded again because somebody asked, and not when it is loaded again later", async () => {
  const storage = new Map<string, string>()
  vi.stubGlobal("sessionStorage", {
    getItem: (key: string) => storage.get(key) ?? null,
    setItem: (key: string, value: string) => storage.set(key, value)
  })
  const loadedAfter = (millis: number) => {
    vi.stubGlobal("performance", { timeOrigin: Date.now() + millis })
    return isReloaded()
  }
  expect(loadedAfter(100)).toBe(false)
  act({ actions: ["reload"] }, "left")
  await settled()
  expect(reload).toHaveBeenCalledOnce()
  expect([loadedAfter(100), loadedAfter(60_000)]).toEqual([true, false])
})
