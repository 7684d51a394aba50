import { describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import type { LogFormat } from "../../../../src/layers/cli/program.ts"
import { logTo } from "../../../../src/layers/cli/terminal/log.ts"

/** The lines that the effect logs, at a fixed time. */
const linesOf = (format: LogFormat, effect: Effect.Effect<void>) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    yield* effect.pipe(logTo({ format, write: (line) => lines.push(line), time: () => "09:30:00" }))
    return lines
  })

const failing = Effect.catchAllCause(Effect.fail(new Error("no network")), (cause) =>
  Effect.logWarning("A fetch failed", cause)
)

describe("the log", () => {
  it.effect("has the time, the level and the message of each event on one line", () =>
    Effect.gen(function* () {
      expect(yield* linesOf("text", Effect.zipRight(Effect.logInfo("Ready"), failing))).toEqual([
        "09:30:00  info   Ready",
        "09:30:00  warn   A fetch failed: no network"
      ])
    })
  )

  it.effect("warns once about plugins made with another version of Effect", () =>
    Effect.gen(function* () {
      const foreign = Object.assign(
        Effect.sync(() => {}),
        { [Effect.EffectTypeId]: { _V: "3.19.18" } }
      )
      const steps = Effect.zipRight(Effect.replicateEffect(foreign, 3), Effect.logWarning("Another warning"))
      expect(yield* linesOf("text", steps)).toEqual([
        expect.stringMatching(
          /^09:30:00 {2}warn {3}A plugin is made with another version .*npm install effect@3 /
        ),
        "09:30:00  warn   Another warning"
      ])
    })
  )

  it.effect("says how many events were lost, as soon as one can be written", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const room = [true, false, false, false, true]
      const write = (line: string) => {
        const hasRoom = room.shift() ?? true
        if (hasRoom) lines.push(line)
        return hasRoom
      }
      yield* Effect.forEach([1, 2, 3, 4, 5], (number) => Effect.logError(`Event ${number}`)).pipe(
        logTo({ format: "text", write, time: () => "09:30:00" })
      )
      expect(lines).toEqual([
        "09:30:00  error  Event 1",
        "09:30:00  warn   2 events before this could not be written in time",
        "09:30:00  error  Event 4",
        "09:30:00  error  Event 5"
      ])
    })
  )

  it.effect("has stack traces only with the level debug", () =>
    Effect.gen(function* () {
      const lines = yield* linesOf("text", Logger.withMinimumLogLevel(failing, LogLevel.Debug))
      expect(lines.join("\n")).toMatch(/^09:30:00 {2}warn {3}A fetch failed\n {2}Error: no network\n {6}at /)
    })
  )

  it.effect(
    "keeps names from elsewhere from forging lines, controlling the terminal and filling the disk",
    () =>
      Effect.gen(function* () {
        const hostile = "rec1\n09:30:00  error  The disk is full\u001b[2J\u009b31m\u202e"
        const long = "x".repeat(3_000_000)
        const logging = Effect.zipRight(
          Effect.logWarning(`1 row has no text (${hostile})`),
          Effect.logWarning(long, Cause.fail(new Error(hostile)))
        )
        const [warning, ...rest] = yield* linesOf("text", logging)
        expect(warning).toBe(
          "09:30:00  warn   1 row has no text (rec1\n  09:30:00  error  The disk is full�[2J�31m�)"
        )
        expect(rest.join("").length).toBeLessThan(10_000)
        const [json = "", ...others] = yield* linesOf("json", Effect.annotateLogs(logging, "source", hostile))
        expect(JSON.parse(json)).toMatchObject({
          message: expect.stringMatching(/^1 row has no text/),
          annotations: { source: expect.stringMatching(/^rec1\n/) }
        })
        expect(json).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
        expect(others.join("").length).toBeLessThan(10_000)
      })
  )

  it.effect("has placeholders for values that JSON does not have, and the program goes on", () =>
    Effect.gen(function* () {
      const circular: Record<string, unknown> = { name: "request\u202e" }
      circular.self = circular
      const logging = Effect.annotateLogs(Effect.logInfo("Saved", circular), "size", { bytes: 1n })
      const [line = ""] = yield* linesOf("json", logging)
      expect(JSON.parse(line)).toMatchObject({
        message: ["Saved", { self: "[Circular]" }],
        annotations: { size: { bytes: "[BigInt 1]" } }
      })
      expect(line).not.toContain("\u202e")
      expect(yield* linesOf("text", logging)).toHaveLength(1)
    })
  )

  it.effect("is one JSON object for each event if the format is json", () =>
    Effect.gen(function* () {
      const [line = ""] = yield* linesOf("json", Effect.annotateLogs(failing, "source", "exhibits"))
      expect(JSON.parse(line)).toMatchObject({
        message: "A fetch failed",
        logLevel: "WARN",
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        annotations: { source: "exhibits" },
        cause: expect.stringContaining("no network")
      })
      expect(line).not.toContain("\n")
    })
  )
})
