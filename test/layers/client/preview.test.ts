import { afterEach, beforeEach, expect, it, vi } from "@effect/vitest"
import { connect } from "../../../src/layers/client/preview.ts"

const versionId = "20261121T093000Z"

let isReachable = true
let lines: Array<{ textContent: string }> = []

beforeEach(() => {
  isReachable = true
  lines = []
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] })
  vi.stubGlobal("PerformanceNavigationTiming", class {})
  vi.stubGlobal("performance", { now: () => Date.now(), getEntriesByType: () => [] })
  vi.stubGlobal("location", {
    href: `http://127.0.0.1/?version=${versionId}`,
    origin: "http://127.0.0.1",
    search: `?version=${versionId}`
  })
  vi.stubGlobal("window", { setTimeout })
  vi.stubGlobal("addEventListener", () => {})
  vi.stubGlobal("document", {
    documentElement: { append: () => {} },
    createElement: () => {
      const element = {
        textContent: "",
        style: {},
        dataset: {},
        append: () => {},
        remove: () => {},
        setAttribute: () => {}
      }
      lines.push(element)
      return element
    }
  })
  vi.stubGlobal("fetch", async (url: string) =>
    isReachable
      ? Response.json(
          url.endsWith("files.json") ? { sources: [] } : { schemaVersion: 1, versionId, sources: [] }
        )
      : Promise.reject(new TypeError("Failed to fetch"))
  )
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

it("a preview says that the content cannot be reached only until it can be reached again", async () => {
  const exhibit = connect({ load: () => "the content", pollEvery: 1000 })
  const stateAfter = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms)
    const { connection, problem, shown } = exhibit.state
    return { connection, problem, shown, mark: lines[1]?.textContent }
  }
  const fine = {
    connection: "polling",
    problem: undefined,
    shown: "the content",
    mark: `Preview · Version ${versionId} is what everybody sees`
  }
  expect(await stateAfter(500)).toEqual(fine)
  isReachable = false
  expect(await stateAfter(2000)).toMatchObject({
    connection: "offline",
    problem: expect.stringMatching(/^The content cannot be reached: .*Failed to fetch/),
    mark: expect.stringMatching(/^Preview · The content cannot be reached: /)
  })
  isReachable = true
  expect(await stateAfter(2000)).toEqual(fine)
  exhibit.close()
})
