import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import { type LogFormat, logTo } from "../../../src/layers/terminal/log.ts"

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
  it.effect("tells time, level and what happened, one line an event", () =>
    Effect.gen(function* () {
      expect(yield* linesOf("text", Effect.zipRight(Effect.logInfo("Ready"), failing))).toEqual([
        "09:30:00  info   Ready",
        "09:30:00  warn   A fetch failed: no network"
      ])
    })
  )

  it.effect("has stack traces only where debugging was asked for", () =>
    Effect.gen(function* () {
      const lines = yield* linesOf("text", Logger.withMinimumLogLevel(failing, LogLevel.Debug))
      expect(lines.join("\n")).toMatch(/^09:30:00 {2}warn {3}A fetch failed\nError: no network\n {4}at /)
    })
  )

  it.effect("is one JSON object an event for programs", () =>
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
