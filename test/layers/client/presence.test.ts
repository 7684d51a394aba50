import { afterEach, beforeEach, expect, it, vi } from "@effect/vitest"
import { makePresence } from "../../../src/layers/client/acks.ts"

/** A browser that draws when the test requests it. */
let frames: Map<number, () => void>
let asked: number
let visibilityState: string

const draw = () => {
  const waiting = [...frames.values()]
  frames.clear()
  for (const callback of waiting) callback()
}

beforeEach(() => {
  frames = new Map()
  asked = 0
  visibilityState = "visible"
  vi.useFakeTimers({ toFake: ["performance"] })
  vi.stubGlobal("document", {
    get visibilityState() {
      return visibilityState
    }
  })
  vi.stubGlobal("requestAnimationFrame", (callback: () => void) => {
    frames.set(++asked, callback)
    return asked
  })
  vi.stubGlobal("cancelAnimationFrame", (frame: number) => frames.delete(frame))
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

it("reports that a page draws while each requested frame comes", () => {
  const presence = makePresence()
  for (let look = 0; look < 3; look++) {
    expect(presence()).toEqual({ visible: true, drawing: true })
    draw()
    vi.advanceTimersByTime(60_000)
  }
  expect(asked).toBe(3)
})

it("reports that a page does not draw if a frame has not come within three seconds", () => {
  const presence = makePresence()
  presence()
  vi.advanceTimersByTime(2999)
  expect(presence()).toEqual({ visible: true, drawing: true })
  vi.advanceTimersByTime(1)
  expect(presence()).toEqual({ visible: true, drawing: false })
  vi.advanceTimersByTime(3_600_000)
  expect(presence()).toEqual({ visible: true, drawing: false })
  expect(asked).toBe(1)
  draw()
  expect(presence()).toEqual({ visible: true, drawing: true })
})

it("requests no frame of a hidden page, and waits after it becomes visible", () => {
  const presence = makePresence()
  presence()
  visibilityState = "hidden"
  for (let look = 0; look < 3; look++) {
    vi.advanceTimersByTime(60_000)
    expect(presence()).toEqual({ visible: false, drawing: false })
  }
  expect(frames.size).toBe(0)
  visibilityState = "visible"
  expect(presence()).toEqual({ visible: true, drawing: true })
  vi.advanceTimersByTime(5000)
  expect(presence()).toEqual({ visible: true, drawing: false })
})
