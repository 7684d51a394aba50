import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as FetchHistory from "../../../src/layers/dashboard/fetchHistory.ts"
import type { BusEvent } from "../../../src/services/EventBus.ts"

const start = Date.parse("2026-11-22T09:00:00.000Z")
const at = (seconds: number) => new Date(start + seconds * 1000).toISOString()
const version = (number: number) => `20261122T0900${String(number).padStart(2, "0")}Z`

const event = (name: string, payload: unknown): BusEvent => ({ name, payload, sequence: 1 })

const begun = (second: number, content = "content") =>
  event(`${content}:fetch:start`, { timestamp: at(second) })

const done = (second: number, outcome: object = {}, content = "content") =>
  event(`${content}:fetch:done`, {
    timestamp: at(second),
    changed: false,
    versionId: version(0),
    records: 3,
    durationMs: 1000,
    ...outcome
  })

const failed = (second: number, message = "no network") =>
  event("content:fetch:error", { timestamp: at(second), error: { name: "E", message } })

const source = (second: number, records: number, sourceId = "exhibits") =>
  event("content:source:done", { timestamp: at(second), sourceId, records, bytes: 10, durationMs: 900 })

const historyOf = (...events: ReadonlyArray<BusEvent>) => events.reduce(FetchHistory.advance, [])

describe("the history of fetches", () => {
  it("has running fetches and their outcomes", () => {
    expect(historyOf(begun(0))).toEqual([
      { content: "content", startedAt: at(0), times: 1, outcome: "running", sources: [] }
    ])
    expect(historyOf(begun(0), source(1, 3), done(2, { changed: true }))).toEqual([
      {
        content: "content",
        startedAt: at(0),
        endedAt: at(2),
        times: 1,
        outcome: "promoted",
        durationMs: 1000,
        versionId: version(0),
        records: 3,
        sources: [{ sourceId: "exhibits", records: 3, bytes: 10, durationMs: 900 }]
      }
    ])
  })

  it("has several violations on one line, without control characters", () =>
    expect(historyOf(begun(0), failed(1, '"title" is missing\r\n"price" is no number\n'))).toMatchObject([
      { error: '"title" is missing; "price" is no number' }
    ]))

  it("has the previous number of records of a source", () => {
    const history = historyOf(
      ...[begun(0), source(1, 3), done(2, { changed: true })],
      ...[begun(3), source(4, 7, "other"), done(5, { changed: true, versionId: version(3) })],
      ...[begun(6), source(7, 5), done(8, { changed: true, versionId: version(6) })]
    )
    expect(history.map(({ sources }) => sources)).toMatchObject([
      [{ records: 3 }],
      [{ sourceId: "other", records: 7 }],
      [{ sourceId: "exhibits", records: 5, recordsBefore: 3 }]
    ])
  })

  it("counts consecutive fetches with the same outcome", () => {
    const history = historyOf(
      ...[begun(0), done(1, { changed: true })],
      ...[begun(10), done(11), begun(20), done(21), begun(30), done(31)],
      ...[begun(40), failed(41), begun(50), failed(51), begun(60), failed(61, "no disk")],
      ...[begun(70), done(71)]
    )
    expect(
      history.map(({ endedAt, outcome, startedAt, times }) => [outcome, times, startedAt, endedAt])
    ).toEqual([
      ["promoted", 1, at(0), at(1)],
      ["unchanged", 3, at(10), at(31)],
      ["failed", 2, at(40), at(51)],
      ["failed", 1, at(60), at(61)],
      ["unchanged", 1, at(70), at(71)]
    ])
    expect(history[3]).toMatchObject({ error: "no disk", durationMs: 1000 })
  })

  it("distinguishes a new waiting version from an earlier one", () => {
    const held = (waiting: string) => ({ held: { since: at(0), waiting } })
    const history = historyOf(
      ...[begun(0), done(1, { changed: true })],
      ...[begun(10), done(11, held(version(10))), begun(20), done(21, held(version(10)))]
    )
    expect(history.map(({ outcome, versionId }) => [outcome, versionId])).toEqual([
      ["promoted", version(0)],
      ["waits", version(10)],
      ["unchanged", version(10)]
    ])
  })

  it("keeps several contents apart", () => {
    const history = historyOf(begun(0), begun(1, "archive"), done(2), done(3, { changed: true }, "archive"))
    expect(history).toMatchObject([
      { content: "content", outcome: "unchanged", startedAt: at(0) },
      { content: "archive", outcome: "promoted", startedAt: at(1) }
    ])
  })

  it("continues after missed events", () => {
    expect(historyOf(done(1, { changed: true }), begun(10), begun(20))).toMatchObject([
      { outcome: "promoted", startedAt: at(1) },
      { outcome: "unknown", startedAt: at(10) },
      { outcome: "running", startedAt: at(20) }
    ])
    expect(historyOf(source(1, 3))).toEqual([])
  })

  it("ignores other events and malformed ones", () => {
    const history = historyOf(begun(0), done(1))
    for (const other of [
      event("content:version:promoted", { versionId: "v" }),
      event("content:fetch:done", { timestamp: 1 }),
      event("content:fetch:done", null),
      event("unrelated", {}),
      event("", undefined)
    ]) {
      expect(FetchHistory.advance(history, other)).toEqual(history)
    }
  })

  it.prop(
    "stays limited for any events",
    [
      FastCheck.array(
        FastCheck.oneof(
          FastCheck.integer({ min: 0, max: 59 }).map((second) => begun(second)),
          FastCheck.integer({ min: 0, max: 59 }).map((second) =>
            done(second, { changed: true, versionId: version(second) })
          ),
          FastCheck.string().map((message) => failed(1, message.repeat(100))),
          FastCheck.string().map((id) => source(1, 1, id)),
          FastCheck.string().map((content) => begun(1, content))
        ),
        { minLength: 600, maxLength: 600 }
      )
    ],
    ([events]) => {
      const history = historyOf(...events)
      expect(history.length).toBeLessThanOrEqual(FetchHistory.maxEntries)
      for (const { error = "", sources } of history) {
        expect(sources.length).toBeLessThanOrEqual(FetchHistory.maxSources)
        expect(Array.from(error).length).toBeLessThanOrEqual(FetchHistory.maxError + 1)
      }
    },
    { fastCheck: { numRuns: 10 } }
  )

  it("drops the oldest", () => {
    const events = Array.from({ length: 250 }, (_, index) => done(index, { changed: true, records: index }))
    const history = historyOf(...events)
    expect(history).toHaveLength(200)
    expect(history.at(-1)).toMatchObject({ records: 249 })
  })
})
