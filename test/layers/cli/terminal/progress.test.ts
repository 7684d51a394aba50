import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import { logTo } from "../../../../src/layers/cli/terminal/log.ts"
import { makeProgressLines } from "../../../../src/layers/cli/terminal/progress.ts"
import type { SourceProgress } from "../../../../src/services/ContentSource.ts"
import { withLog } from "../../../support/logged.ts"

const timestamp = "2026-11-21T09:30:00.000Z"

it.effect("progress lines have the source and the duration as annotations", () =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const show = yield* makeProgressLines
    yield* show({
      name: "content:source:done",
      payload: { timestamp, sourceId: "exhibits", records: 301, bytes: 1, durationMs: 1234 }
    }).pipe(logTo({ format: "json", write: (line) => lines.push(line) }))
    expect(lines.map((line) => JSON.parse(line).annotations)).toEqual([
      { source: "exhibits", durationMs: 1234, records: 301 }
    ])
  })
)

it.effect("progress lines are printed at each step, and at least every five seconds", () =>
  Effect.gen(function* () {
    const logs: Array<string> = []
    const show = yield* makeProgressLines
    const progress = (records: number, more: Partial<SourceProgress> = {}) =>
      show({
        name: "content:source:progress",
        payload: {
          sourceId: "exhibits",
          document: "Objects",
          documents: { done: 0, total: 1 },
          records,
          ...more
        }
      })
    const until = new Date(30_000).toISOString()

    yield* Effect.gen(function* () {
      yield* progress(0)
      yield* progress(100)
      yield* progress(100, { waiting: { reason: "pacing", until } })
      yield* TestClock.adjust("5 seconds")
      yield* progress(200)
      yield* progress(300)
      yield* progress(300, { waiting: { reason: "retry", until } })
      yield* progress(301, { waiting: { reason: "retry", until } })
      yield* progress(302, { waiting: { reason: "pacing", until } })
      yield* progress(1, { document: "Rooms", attachments: { done: 1, total: 2, bytes: 2048 } })
      yield* show({
        name: "content:source:done",
        payload: {
          timestamp,
          sourceId: "exhibits",
          records: 301,
          bytes: 3 * 1024 * 1024,
          attachments: { total: 2, bytes: 4096, reused: 1 },
          durationMs: 1234
        }
      })
      yield* show({
        name: "content:source:error",
        payload: { timestamp, sourceId: "tours", error: { name: "SourceError", message: "no network" } }
      })
    }).pipe(withLog(logs))

    const clock = new Date(30_000).toTimeString().slice(0, 8)
    expect(logs.map((line) => line.replace(/^INFO /, ""))).toEqual([
      "exhibits: Objects, 0 records",
      "exhibits: Objects, 200 records",
      `exhibits: Objects, 300 records; waiting until ${clock} for another try`,
      "exhibits: Objects, 302 records; then Rooms",
      "exhibits: done, 301 records, 2 files (1 as before), 3.0 MiB, in 1.2 s",
      "tours: failed"
    ])
  })
)
