import { describe, expect, it } from "@effect/vitest"
import * as Either from "effect/Either"
import {
  checkContext,
  checkFetchContext,
  type InvalidContext
} from "../../../src/layers/plain/CheckContext.ts"
import { makePlainController } from "../../support/plainController.ts"

const whole = () => makePlainController().contextOf("test")

const messageOf = (checked: Either.Either<unknown, InvalidContext>) =>
  Either.match(checked, { onLeft: ({ message }) => message, onRight: () => "" })

describe("checkContext", () => {
  it("accepts a complete context, also with further members", () => {
    const context = { ...whole(), cwd: "/", onGlobalStatePatch: () => {} }
    expect(checkContext(context)).toEqual(Either.right(context))
    expect(Either.getOrThrow(checkContext(context))).toBe(context)
  })

  it("accepts methods of classes and functions", () => {
    class Bus {
      onAny() {}
      offAny() {}
      emit() {}
    }
    class Context {
      readonly #whole = whole()
      readonly eventBus = new Bus()
      readonly logger = Object.assign(() => {}, this.#whole.logger)
      readonly mode = "task"
      get abortSignal() {
        return this.#whole.abortSignal
      }
      getStatusSnapshot() {}
      getGlobalState() {}
      dispatchCommand() {}
      updateState() {}
    }
    expect(messageOf(checkContext(new Context()))).toBe("")
  })

  it("names every field that is missing, and what it should be", () => {
    expect(messageOf(checkContext({}))).toBe(
      [
        "There are 8 invalid values in the context that setup was given:",
        "  context.eventBus: expected an object, got undefined",
        "  context.logger: expected an object, got undefined",
        "  context.abortSignal: expected an AbortSignal, got undefined",
        '  context.mode: expected "task" or "persistent", got undefined',
        "  context.getStatusSnapshot: expected a function, got undefined",
        "  context.getGlobalState: expected a function, got undefined",
        "  context.dispatchCommand: expected a function, got undefined",
        "  context.updateState: expected a function, got undefined"
      ].join("\n")
    )
  })

  it("names every invalid field, also within objects", () => {
    const { logger, ...context } = whole()
    const wrong = {
      ...context,
      eventBus: { onAny: "*", emit: () => {}, offAny: null },
      logger: { ...logger, verbose: undefined },
      abortSignal: new AbortController(),
      mode: "persist"
    }
    expect(messageOf(checkContext(wrong))).toBe(
      [
        "There are 5 invalid values in the context that setup was given:",
        '  context.eventBus.onAny: expected a function, got "*"',
        "  context.eventBus.offAny: expected a function, got null",
        "  context.logger.verbose: expected a function, got undefined",
        "  context.abortSignal: expected an AbortSignal, got an object",
        '  context.mode: expected "task" or "persistent", got "persist"'
      ].join("\n")
    )
  })

  it("checks inherited members", () => {
    const context = Object.create({
      ...whole(),
      eventBus: Object.create({ onAny: 1, offAny() {}, emit() {} })
    })
    expect(messageOf(checkContext(context))).toBe(
      "There is an invalid value in the context that setup was given:\n" +
        "  context.eventBus.onAny: expected a function, got 1"
    )
  })

  it.each(["aborted", "addEventListener", "removeEventListener"])(
    "rejects an abort signal without %s",
    (lacking) => {
      const abortSignal = { aborted: false, addEventListener() {}, removeEventListener() {} }
      expect(messageOf(checkContext({ ...whole(), abortSignal }))).toBe("")
      expect(
        messageOf(checkContext({ ...whole(), abortSignal: { ...abortSignal, [lacking]: undefined } }))
      ).toBe(
        "There is an invalid value in the context that setup was given:\n" +
          "  context.abortSignal: expected an AbortSignal, got an object"
      )
    }
  )

  it.each([
    [undefined, "undefined"],
    [null, "null"],
    [7, "7"],
    [[], "an array"]
  ])("rejects %o as a context", (context, got) => {
    expect(messageOf(checkContext(context))).toBe(
      `There is an invalid value in the context that setup was given:\n  context: expected an object, got ${got}`
    )
  })
})

describe("checkFetchContext", () => {
  it("requires only a logger and an abort signal", () => {
    const { abortSignal, logger } = whole()
    expect(messageOf(checkFetchContext({ abortSignal, logger }))).toBe("")
    expect(messageOf(checkFetchContext({ logger: {} }))).toBe(
      [
        "There are 6 invalid values in the context that fetch was given:",
        "  context.logger.error: expected a function, got undefined",
        "  context.logger.warn: expected a function, got undefined",
        "  context.logger.info: expected a function, got undefined",
        "  context.logger.debug: expected a function, got undefined",
        "  context.logger.verbose: expected a function, got undefined",
        "  context.abortSignal: expected an AbortSignal, got undefined"
      ].join("\n")
    )
  })
})
