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

const options = { name: "content", address: async () => "http://127.0.0.1:8710/events" }

const open = () => opened.filter(({ isClosed }) => !isClosed).length

it("is left once, until the controller is back", async () => {
  const reports: Array<string> = []
  const life = new AbortController()
  const { leave, retry } = followStream(
    "vitrine content",
    options,
    (state) => reports.push(state),
    life.signal
  )
  await vi.advanceTimersByTimeAsync(0)
  expect(open()).toBe(1)
  leave()
  leave()
  await vi.advanceTimersByTimeAsync(600_000)
  expect({ open: open(), reports }).toEqual({ open: 0, reports: ["lost"] })
  retry()
  retry()
  await vi.advanceTimersByTimeAsync(0)
  expect(open()).toBe(1)
  life.abort()
  expect(open()).toBe(0)
})

it("costs nothing more with each failure, and is closed with the page", async () => {
  const listens = vi.spyOn(AbortSignal.prototype, "addEventListener")
  const life = new AbortController()
  followStream("vitrine content", options, () => {}, life.signal)
  await vi.advanceTimersByTimeAsync(0)
  const listeners = listens.mock.calls.length
  for (let failures = 1; failures <= 20; failures++) {
    opened.at(-1)?.onerror()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(opened).toHaveLength(failures + 1)
  }
  expect(listens).toHaveBeenCalledTimes(listeners)
  expect(open()).toBe(1)

  life.abort()
  expect(open()).toBe(0)
})
