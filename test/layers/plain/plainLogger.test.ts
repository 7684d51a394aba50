import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { withPlainLogger } from "../../../src/layers/plain/plainLogger.ts"
import type { PlainContext } from "../../../src/plain.ts"
import { makePlainController } from "../../support/plainController.ts"

describe("withPlainLogger", () => {
  it.effect("logs every level with the method of its name, in forked fibers too", () =>
    Effect.gen(function* () {
      const controller = makePlainController()
      yield* Effect.gen(function* () {
        yield* Effect.logFatal("a")
        yield* Effect.logError("b")
        yield* Effect.logWarning("c")
        yield* Effect.logInfo("d", { e: 1 })
        yield* Effect.fork(Effect.logDebug("f")).pipe(Effect.flatMap((fiber) => fiber.await))
        yield* Effect.logTrace("g")
      }).pipe(withPlainLogger(controller.contextOf("test")))
      expect(controller.lines).toEqual([
        "ERROR a",
        "ERROR b",
        "WARN c",
        'INFO d {"e":1}',
        "DEBUG f",
        "VERBOSE g"
      ])
    })
  )

  it.effect("has the reason in the line, and the stack at the level debug", () =>
    Effect.gen(function* () {
      const controller = makePlainController()
      const cause = new Error("the disk is full")
      yield* Effect.logError("It failed", cause).pipe(withPlainLogger(controller.contextOf("test")))
      yield* Effect.catchAllCause(Effect.fail(cause), (cause) => Effect.logWarning("It failed", cause)).pipe(
        withPlainLogger(controller.contextOf("test"))
      )
      expect(controller.lines).toHaveLength(3)
      expect(controller.lines[1]).toBe("WARN It failed: the disk is full")
      expect(controller.lines[2]).toMatch(/^DEBUG Error: the disk is full\n {4}at /)
    })
  )

  it.effect.each<[string, object]>([
    [
      "throws",
      {
        info: () => {
          throw new Error("no")
        }
      }
    ],
    ["lacks the method", {}]
  ])("continues if the logger %s", ([, logger]) =>
    Effect.gen(function* () {
      const context = { ...makePlainController().contextOf("test"), logger } as PlainContext
      expect(yield* Effect.as(Effect.logInfo("text"), 1).pipe(withPlainLogger(context))).toBe(1)
    })
  )
})
