import { describe, expect, it } from "@effect/vitest"
import { fetchedPercent } from "../../../src/layers/fetching/pluginReport.ts"
import type { SourceState } from "../../../src/services/Slices.ts"

const startTime = "2026-11-22T08:00:00.000Z"

describe("how far a fetch has come", () => {
  const fetchingSince = "2026-11-22T08:59:00.000Z"
  const percentOf = (sources: Readonly<Record<string, SourceState>>) =>
    fetchedPercent({ kind: "content", fetchingSince, sources })
  const progress = (bytes: number, totalBytes: number): SourceState => ({
    fetchingSince,
    progress: {
      document: "film.mp4",
      documents: { done: 0, total: 1 },
      records: 0,
      attachments: { done: 0, total: 1, bytes, totalBytes }
    }
  })
  const done = (timestamp: string, bytes: number): SourceState => ({
    lastSuccess: { timestamp, sourceId: "films", records: 0, bytes, durationMs: 1 }
  })

  it("follows the bytes", () => {
    expect(percentOf({ films: progress(0, 300) })).toBe(0)
    expect(percentOf({ films: progress(299, 300) })).toBe(99)
    expect(percentOf({ films: progress(300, 300) })).toBe(100)
    expect(percentOf({ films: progress(150, 300), tours: progress(50, 100) })).toBe(50)
  })

  it("counts finished sources, but not those of an earlier fetch", () => {
    expect(percentOf({ films: progress(0, 300), tours: done("2026-11-22T08:59:30.000Z", 100) })).toBe(25)
    expect(percentOf({ films: progress(150, 300), tours: done(startTime, 100) })).toBe(50)
    expect(percentOf({ tours: done("2026-11-22T08:59:30.000Z", 100) })).toBe(100)
  })

  it("is absent without a fetch", () => {
    expect(percentOf({})).toBeUndefined()
    expect(percentOf({ tours: done(startTime, 100) })).toBeUndefined()
    expect(fetchedPercent({ kind: "content", sources: { films: progress(1, 2) } })).toBeUndefined()
  })
})
