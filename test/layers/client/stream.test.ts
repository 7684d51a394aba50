import { afterEach, beforeEach, expect, it, vi } from "@effect/vitest"
import { followStream } from "../../../src/layers/client/stream.ts"

/** The event streams that the page has opened. */
let opened: Array<{ onerror: () => void; isClosed: boolean }>

beforeEach(() => {
  opened = []
  vi.useFakeTimers()
  vi.stubGlobal("window", globalThis)
  vi.stubGlobal("navigator", {})
  vi.stubGlobal("document", Object.assign(new EventTarget(), { hidden: false }))
  vi.stubGlobal(
    "EventSource",
    class {
      isClosed = false
      onerror = () => {}
      constructor() {
        opened.push(this)
      }
      addEventListener() {}
      close() {
        this.isClosed = true
      }
    }
  )
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

it("costs nothing more with each failure, and is closed with the page", async () => {
  const listens = vi.spyOn(AbortSignal.prototype, "addEventListener")
  const life = new AbortController()
  followStream(
    "vitrine content",
    { name: "content", address: async () => "http://127.0.0.1:8710/events" },
    () => {},
    life.signal
  )
  await vi.advanceTimersByTimeAsync(0)
  const listeners = listens.mock.calls.length
  for (let failures = 1; failures <= 20; failures++) {
    opened.at(-1)?.onerror()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(opened).toHaveLength(failures + 1)
  }
  expect(listens).toHaveBeenCalledTimes(listeners)
  expect(opened.filter(({ isClosed }) => !isClosed)).toHaveLength(1)

  life.abort()
  expect(opened.every(({ isClosed }) => isClosed)).toBe(true)
})
