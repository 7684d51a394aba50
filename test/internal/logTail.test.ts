import { describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as HashSet from "effect/HashSet"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import { makeLogTail } from "../../src/internal/loggers.ts"

const maxLines = 200
const maxLength = 1000

const tailOf = (log: Effect.Effect<void>) =>
  Effect.gen(function* () {
    let changes = 0
    const tail = makeLogTail({
      minimum: LogLevel.Info,
      maxLines,
      maxLength,
      changed: () => {
        changes += 1
      }
    })
    yield* Effect.locally(log, FiberRef.currentLoggers, HashSet.make(tail.logger)).pipe(
      Logger.withMinimumLogLevel(LogLevel.Debug)
    )
    return { changes, lines: tail.lines() }
  })

describe("the tail of the log", () => {
  it.effect("has the time, the level and the text of each line, with the cause", () =>
    Effect.gen(function* () {
      const { changes, lines } = yield* tailOf(
        Effect.all(
          [
            Effect.logInfo("Ready", { port: 1 }),
            Effect.logWarning("slow"),
            Effect.logError("A plugin failed", Cause.die(new Error("no disk"))),
            Effect.logFatal("the end"),
            Effect.logDebug("detail")
          ],
          { discard: true }
        )
      )
      expect(lines).toEqual([
        { at: "1970-01-01T00:00:00.000Z", level: "info", text: 'Ready {"port":1}' },
        { at: "1970-01-01T00:00:00.000Z", level: "warn", text: "slow" },
        { at: "1970-01-01T00:00:00.000Z", level: "error", text: "A plugin failed: no disk" },
        { at: "1970-01-01T00:00:00.000Z", level: "error", text: "the end" }
      ])
      expect(changes).toBe(4)
    })
  )

  it.effect("keeps the last lines, each up to a limit", () =>
    Effect.gen(function* () {
      const { lines } = yield* tailOf(
        Effect.forEach(
          Array.from({ length: maxLines + 50 }).keys(),
          (index) => Effect.logInfo(`line ${index}`),
          {
            discard: true
          }
        ).pipe(Effect.zipRight(Effect.logInfo("x".repeat(10 * maxLength))))
      )
      expect(lines).toHaveLength(maxLines)
      expect(lines[0]?.text).toBe("line 51")
      expect(lines.at(-1)?.text).toBe(`${"x".repeat(maxLength - 1)}…`)
    })
  )

  it.effect("contains no control characters and no folders of this machine", () =>
    Effect.gen(function* () {
      const { lines } = yield* tailOf(
        Effect.logInfo("\u001b[31mred\u202e cannot write /home/museum/exhibit/downloads/manifest.json")
      )
      expect(lines[0]?.text).toBe("�[31mred� cannot write …/manifest.json")
    })
  )
})
