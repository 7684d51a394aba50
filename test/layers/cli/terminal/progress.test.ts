import { Writable } from "node:stream"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import { logTo } from "../../../../src/layers/cli/terminal/log.ts"
import { makeProgressLine, makeProgressLines } from "../../../../src/layers/cli/terminal/progress.ts"
import type { SourceProgress } from "../../../../src/services/ContentSource.ts"
import { withLog } from "../../../support/logged.ts"

const timestamp = "2026-11-21T09:30:00.000Z"

/** A terminal of that width, and what has been written to it. */
const makeTerminal = (columns: number) => {
  const written: Array<string> = []
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk, _encoding, done) => {
      written.push(String(chunk))
      done()
    }
  })
  return { stream: Object.assign(stream, { isTTY: true, columns }), written }
}

const started = (sourceId: string) =>
  ({ name: "content:source:start", payload: { timestamp, sourceId } }) as const

const advanced = (sourceId: string, progress: Partial<SourceProgress>) =>
  ({
    name: "content:source:progress",
    payload: { sourceId, document: "Objects", documents: { done: 1, total: 3 }, records: 7, ...progress }
  }) as const

const finished = {
  name: "content:source:done",
  payload: { timestamp, sourceId: "tours", records: 9, bytes: 1024, durationMs: 1200 }
} as const

const failed = {
  name: "content:source:error",
  payload: { timestamp, sourceId: "exhibits", error: { name: "SourceError", message: "no network" } }
} as const

describe("the progress on a terminal", () => {
  it.effect("is one line, which has a bar for all sources and the latest news", () =>
    Effect.gen(function* () {
      const { stream, written } = makeTerminal(80)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { show } = yield* makeProgressLine(stream)
          yield* show(started("exhibits"))
          yield* show(advanced("exhibits", {}))
          yield* show(started("tours"))
          yield* show(finished)
          yield* show(advanced("exhibits", { attachments: { done: 6, total: 9, bytes: 2048 } }))
          yield* show(failed)
        })
      )
      expect(written.join("").split("\r\u001b[K")).toEqual([
        "",
        `${"░".repeat(20)} 0/1 exhibits: starting`,
        `${"█".repeat(7)}${"░".repeat(13)} 1/3 exhibits: Objects, 7 records`,
        `${"█".repeat(5)}${"░".repeat(15)} 1/4 tours: starting`,
        `${"█".repeat(10)}${"░".repeat(10)} 2/4 tours: 9 records, 1.0 KiB, in 1.2 s`,
        `${"█".repeat(14)}${"░".repeat(6)} 7/10 exhibits: Objects, 7 records; 6 of 9 files, 2.0 KiB`,
        `${"█".repeat(14)}${"░".repeat(6)} 7/10 exhibits: failed\n`
      ])
    })
  )

  it.scoped("is below the lines of the log", () =>
    Effect.gen(function* () {
      const { stream, written } = makeTerminal(80)
      const { log, show } = yield* makeProgressLine(stream)
      log("before")
      yield* show(started("exhibits"))
      log("meanwhile")
      const line = `\r\u001b[K${"░".repeat(20)} 0/1 exhibits: starting`
      expect(written.join("")).toBe(`\r\u001b[Kbefore\n${line}\r\u001b[Kmeanwhile\n${line}`)
    })
  )

  it.scoped("has only what there is room for, and no control characters", () =>
    Effect.gen(function* () {
      const { stream, written } = makeTerminal(34)
      const { show } = yield* makeProgressLine(stream)
      yield* show(started("展示\u001b[2J室"))
      expect(written.join("")).toBe(`\r\u001b[K${"░".repeat(20)} 0/1 展示 [2J`)
    })
  )

  it.effect("is nothing where nothing is fetched", () =>
    Effect.gen(function* () {
      const { stream, written } = makeTerminal(80)
      yield* Effect.scoped(makeProgressLine(stream))
      expect(written).toEqual([])
    })
  )
})

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
      "exhibits: Objects",
      "exhibits: Objects, 200 records",
      `exhibits: Objects, 300 records; waiting until ${clock} for another try`,
      "exhibits: Objects, 302 records; then Rooms",
      "exhibits: done, 301 records, 2 files (1 as before), 3.0 MiB, in 1.2 s",
      "tours: failed"
    ])
  })
)
