import { afterEach, beforeEach, expect, it, vi } from "@effect/vitest"
import { makeRenewal, type RenewalOptions } from "../../../src/layers/client/renewal.ts"

const address = "http://127.0.0.1:8730/?screen=left"

/** A navigation as the browser tells it. */
class Navigation {
  readonly serverTiming: ReadonlyArray<{ readonly name: string; readonly description: string }>
  constructor(...[build, version]: ReadonlyArray<string>) {
    this.serverTiming = Object.entries({ build, version }).flatMap(([name, description]) =>
      description === undefined ? [] : [{ name, description }]
    )
  }
}

const reload = vi.fn()
let visibilityState = "visible"
let storage = new Map<string, string>()
let answers: () => Promise<unknown> = async () => ({ ok: true })
const asked: Array<string> = []

/** A move of the pointer to a place on the screen. */
class Move extends Event {
  readonly screenX: number
  readonly screenY = 0
  constructor(screenX: number) {
    super("pointermove")
    this.screenX = screenX
  }
}

let page = new EventTarget()
let buttons: ReadonlyArray<{ readonly value: number }> = []

const opened = (own: ReadonlyArray<string>, options: Partial<RenewalOptions> = {}) => {
  vi.stubGlobal("performance", {
    now: () => Date.now(),
    getEntriesByType: () => [new Navigation(...own)]
  })
  const life = new AbortController()
  const {
    built: told,
    isDue,
    problem
  } = makeRenewal({
    content: "http://127.0.0.1:8730",
    maxDefer: 300_000,
    signal: life.signal,
    ...options
  })
  return { told, isDue, problem, close: () => life.abort() }
}

beforeEach(() => {
  vi.useFakeTimers({ now: 0, toFake: ["Date", "setTimeout", "clearTimeout"] })
  vi.spyOn(Math, "random").mockReturnValue(0.5)
  visibilityState = "visible"
  storage = new Map()
  answers = async () => ({ ok: true })
  asked.length = 0
  reload.mockClear()
  vi.stubGlobal("PerformanceNavigationTiming", Navigation)
  vi.stubGlobal("location", { href: address, origin: new URL(address).origin, reload })
  vi.stubGlobal("document", {
    get visibilityState() {
      return visibilityState
    }
  })
  vi.stubGlobal("sessionStorage", {
    getItem: (key: string) => storage.get(key) ?? null,
    setItem: (key: string, value: string) => storage.set(key, value)
  })
  page = new EventTarget()
  buttons = []
  vi.stubGlobal("navigator", { getGamepads: () => (buttons.length === 0 ? [] : [{ axes: [], buttons }]) })
  vi.stubGlobal("window", { setTimeout })
  vi.stubGlobal("MouseEvent", Move)
  vi.stubGlobal("addEventListener", page.addEventListener.bind(page))
  vi.stubGlobal("fetch", (url: string, { signal }: RequestInit) => {
    asked.push(url)
    return Promise.race([
      answers(),
      new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)))
    ])
  })
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000)

it("reloads a page without input for a minute, once its address responds", async () => {
  const { told } = opened(["a"])
  told("a")
  await pass(100)
  page.dispatchEvent(new Event("keydown"))
  told("b")
  answers = async () => ({ ok: false, status: 500 })
  await pass(59)
  expect(asked).toEqual([])
  await pass(5)
  expect(asked[0]).toBe(address)
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {})
  answers = () => Promise.reject(new TypeError("Failed to fetch"))
  await pass(5)
  expect(reload).not.toHaveBeenCalled()
  expect(warn.mock.calls).toEqual([[expect.stringContaining("is not loaded: TypeError: Failed to fetch")]])
  answers = async () => ({ ok: true })
  await pass(5)
  expect(reload).toHaveBeenCalledTimes(1)
  await pass(600)
  expect(reload).toHaveBeenCalledTimes(1)
})

it("reloads a page on which only the content below a still pointer moves", async () => {
  const { told } = opened(["a"])
  told("b")
  for (let second = 0; second < 70; second++) {
    page.dispatchEvent(new Move(100))
    await pass(1)
  }
  expect(reload).toHaveBeenCalledTimes(1)
})

it("has a problem if the page is still an older build after it was loaded again, as with a service worker", async () => {
  const before = opened(["a"])
  before.told("b")
  await pass(100)
  expect([reload.mock.calls.length, before.problem()]).toEqual([1, undefined])
  const after = opened(["a"])
  after.told("b")
  await pass(100)
  expect(reload).toHaveBeenCalledTimes(1)
  expect(after.problem()).toContain("a service worker keeps the old one")
  after.told("a")
  expect([after.problem(), opened(["b"]).problem()]).toEqual([undefined, undefined])
})

it("has a problem while the new build cannot be loaded, or the storage of the browser is full", async () => {
  vi.spyOn(console, "warn").mockImplementation(() => {})
  const { problem, told } = opened(["a"])
  told("b")
  answers = async () => ({ ok: false, status: 500 })
  await pass(100)
  expect(problem()).toContain("is not loaded: Error: HTTP 500")
  answers = async () => ({ ok: true })
  vi.stubGlobal("sessionStorage", {
    getItem: () => null,
    setItem: () => {
      throw new Error("The quota has been exceeded")
    }
  })
  await pass(5)
  expect(problem()).toContain("is not loaded: Error: The quota has been exceeded")
  told("a")
  expect([problem(), reload.mock.calls.length]).toEqual([undefined, 0])
})

it("does not reload a page while somebody moves the pointer or plays with a gamepad", async () => {
  const { told } = opened(["a"])
  told("b")
  for (let second = 0; second < 100; second++) {
    page.dispatchEvent(new Move(second))
    await pass(1)
  }
  buttons = [{ value: 0 }]
  page.dispatchEvent(new Event("gamepadconnected"))
  for (let second = 0; second < 100; second++) {
    buttons = [{ value: second % 2 }]
    await pass(1)
  }
  expect(reload).not.toHaveBeenCalled()
  await pass(70)
  expect(reload).toHaveBeenCalledTimes(1)
})

it("reloads a hidden page after a random delay of up to half a minute", async () => {
  const { told } = opened(["a"])
  visibilityState = "hidden"
  told("b")
  await pass(14)
  expect(reload).not.toHaveBeenCalled()
  await pass(2)
  expect(reload).toHaveBeenCalledTimes(1)
})

it("waits for canSwap, at most maxDefer", async () => {
  const { told } = opened(["a"], { canSwap: () => false, maxDefer: 120_000 })
  told("b")
  await pass(15 + 119)
  expect(reload).not.toHaveBeenCalled()
  await pass(5)
  expect(reload).toHaveBeenCalledTimes(1)
})

it("calls onNewPage once for each build instead of reloading", async () => {
  const reloads: Array<() => void> = []
  const { told } = opened(["a"], { onNewPage: (reload) => reloads.push(reload) })
  visibilityState = "hidden"
  told("b")
  told("b")
  await pass(600)
  told("b")
  await pass(600)
  expect(reloads).toHaveLength(1)
  expect(reload).not.toHaveBeenCalled()
  told("c")
  await pass(60)
  expect(reloads).toHaveLength(2)
  answers = async () => ({ ok: false, status: 500 })
  reloads[1]?.()
  await pass(1)
  expect(reload).not.toHaveBeenCalled()
  answers = async () => ({ ok: true })
  reloads[1]?.()
  reloads[1]?.()
  await pass(1)
  reloads[1]?.()
  await pass(1)
  expect(reload).toHaveBeenCalledTimes(1)
})

it("reloads a page once for each build, even if the page stays the same", async () => {
  visibilityState = "hidden"
  opened(["a"]).told("b")
  await pass(60)
  expect(reload).toHaveBeenCalledTimes(1)
  const { told } = opened(["a"])
  told("b")
  await pass(60)
  expect(reload).toHaveBeenCalledTimes(1)
  told("c")
  await pass(60)
  expect(reload).toHaveBeenCalledTimes(2)
})

it("loads only the newest build, and none if the old one is back", async () => {
  visibilityState = "hidden"
  const { told } = opened(["a"])
  told("b")
  await pass(10)
  told("c")
  await pass(10)
  told("a")
  await pass(60)
  expect(reload).not.toHaveBeenCalled()
  told("b")
  told("c")
  await pass(60)
  expect(reload).toHaveBeenCalledTimes(1)
  expect(storage.get("vitrine build")).toBe("c")
})

it("treats the first announced build as its own if the server did not know the build at first", async () => {
  visibilityState = "hidden"
  const { told } = opened([""])
  told(null)
  told("b")
  await pass(60)
  expect(reload).not.toHaveBeenCalled()
  told("c")
  await pass(60)
  expect(reload).toHaveBeenCalledTimes(1)
})

it.each([
  ["is part of no build", [], {}],
  ["has content of another origin", ["a"], { content: "http://hub:8730" }]
] as const)("never loads a page that %s", async (_, own, options) => {
  visibilityState = "hidden"
  const { told } = opened(own, options)
  told("b")
  await pass(600)
  expect(reload).not.toHaveBeenCalled()
})

it("never reloads a page without storage, that is being closed, or without an announced build", async () => {
  visibilityState = "hidden"
  const { close, told } = opened(["a"])
  told(null)
  await pass(60)
  told("b")
  close()
  await pass(60)
  vi.stubGlobal("sessionStorage", undefined)
  opened(["a"]).told("b")
  await pass(600)
  expect(reload).not.toHaveBeenCalled()
})

it("is due from another build to the next reload or to its own build, if it travels with the content", async () => {
  const alone = opened(["a"])
  alone.told("b")
  expect(alone.isDue()).toBe(false)
  alone.close()

  const { close, isDue, told } = opened(["a", "20261121T093000Z"])
  told("a")
  expect(isDue()).toBe(false)
  told("b")
  expect(isDue()).toBe(true)
  told("a")
  expect(isDue()).toBe(false)
  told("b")
  await pass(100)
  expect(reload).toHaveBeenCalledTimes(1)
  close()

  // What was loaded is not the build that it was loaded for: its content is shown all the same.
  const again = opened(["a", "20261121T093000Z"])
  again.told("b")
  expect(again.isDue()).toBe(false)
})

it("asks again for a build whose page did not respond within half a minute", async () => {
  const { told } = opened(["a"])
  vi.spyOn(console, "warn").mockImplementation(() => {})
  answers = () => new Promise(() => {})
  told("b")
  await pass(80)
  expect(asked).toEqual([address])
  answers = async () => ({ ok: true })
  await pass(100)
  expect(reload).toHaveBeenCalledTimes(1)
})
